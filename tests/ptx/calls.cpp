// Every call that tells another PE something or learns something from it, as a kernel of its own, with a PE that the
// compiler does not know. tests/tools/test_ptx.py looks into the instructions: each must have one of the kind that its
// name begins with, for observers on all GPUs. PEs that share a GPU cannot show that: what is ordered for one GPU alone
// works there.
#include "starling/device/block.hpp"
#include "starling/region/agent_copy_engine.hpp"
#include "starling/region/agent_own_warp.hpp"

namespace starling::ptx {

struct call {
  sym<int> data;
  sym<int> words;
  sym<signal> sig;
  sym<packet> mail;
  channel<int> line;
  const int* source;
  int* result;
  int pe;
  int n;
};

// release: what the group has written before reaches whoever hears of it.
struct release_signal_set : call {
  STARLING_HD void operator()(block& b) const { b.signal_set(sig, 7, pe); }
};
struct release_signal_add : call {
  STARLING_HD void operator()(block& b) const { b.signal_add(sig, 7, pe); }
};
struct release_put_signal : call {
  STARLING_HD void operator()(block& b) const { b.put_signal(data, source, n, sig, 7, pe); }
};
struct release_put_signal_of_warp : call {
  STARLING_HD void operator()(block& b) const { b.warp().put_signal(data, source, n, sig, 7, pe); }
};
struct release_put_signal_of_thread : call {
  STARLING_HD void operator()(block& b) const { b.thread().put_signal(data, source, n, sig, 7, pe); }
};
struct release_put_signal_made : call {
  STARLING_HD void operator()(block& b) const {
    const int x = n;
    b.put_signal(data, [x](index_t i) { return static_cast<int>(i) + x; }, n, sig, 7, pe);
  }
};
struct release_put_signal_bulk : call {
  STARLING_HD void operator()(block& b) const {
    bulk_buffer via = b.bulk_scratch();
    b.put_signal(via, data, source, n, sig, 7, pe);
  }
};
struct release_fence : call {
  STARLING_HD void operator()(block& b) const { b.fence(); }
};
struct release_quiet : call {
  STARLING_HD void operator()(block& b) const { b.quiet(); }
};
struct release_atomic_set : call {
  STARLING_HD void operator()(block& b) const { b.atomic_set(words, 7, pe, cuda::memory_order_release); }
};
struct release_atomic_fetch_add : call {
  STARLING_HD void operator()(block& b) const { b.atomic_fetch_add(words, 7, pe, cuda::memory_order_release); }
};
struct release_trigger : call {  // for a stream, though of the own PE
  const region_state* state;
  STARLING_HD void operator()(block& b) const {
    region_words::copy_engine::hand_on(b.thread(), *state, n, 7, where::current());
  }
};
struct release_own_warp : call {
  const own_warp_agent<int>* agent;
  STARLING_HD void operator()(block& b) const { agent->serve(b.warp()); }
};
struct release_send : call {
  STARLING_HD void operator()(block& b) const { b.send(line, source, n, 7, pe); }
};
struct release_give_credit : call {
  STARLING_HD void operator()(block& b) const { b.give_credit(line, 7, pe); }
};
struct release_sync_all : call {
  STARLING_HD void operator()(block& b) const { b.sync_all(); }
};
struct release_barrier_all : call {
  STARLING_HD void operator()(block& b) const { b.barrier_all(); }
};

// acquire: what is heard of is seen.
struct acquire_wait : call {
  STARLING_HD void operator()(block& b) const { b.wait(sig, 7, pe); }
};
struct acquire_wait_all : call {
  STARLING_HD void operator()(block& b) const { b.wait_all(sig, n, 7, pe); }
};
struct acquire_wait_each : call {
  STARLING_HD void operator()(block& b) const {
    const sym<signal> first = sig;
    const int from = pe;
    b.wait_each(n, [=](int i) { return awaited_signal{first + i, from}; }, 7);
  }
};
struct acquire_test : call {
  STARLING_HD void operator()(block& b) const { *result = b.test(sig, compare::ge, 7) ? 1 : 0; }
};
struct acquire_atomic_fetch : call {
  STARLING_HD void operator()(block& b) const { *result = b.atomic_fetch(words, pe, cuda::memory_order_acquire); }
};
struct acquire_await_credit : call {
  STARLING_HD void operator()(block& b) const { b.await_credit(line, 7, pe); }
};
struct acquire_receive : call {
  STARLING_HD void operator()(block& b) const {
    int* to = result;
    b.receive_each(line, n, 7, pe, [to](index_t i, int x) { to[i] = x; });
  }
};
struct acquire_sync_all : call {
  STARLING_HD void operator()(block& b) const { b.sync_all(); }
};

// store and load: data that travels with its number.
struct store_put_packets : call {
  STARLING_HD void operator()(block& b) const {
    const int x = n;
    b.put_packets<int>(mail, [x](index_t) { return packet_content<int>{{x, x}}; }, n, 7, pe);
  }
};
struct store_all_reduce : call {
  STARLING_HD void operator()(block& b) const { *result = b.all_reduce(n, plus{}); }
};
struct store_broadcast : call {
  STARLING_HD void operator()(block& b) const { *result = b.broadcast(n, pe); }
};
struct load_take_packet : call {
  STARLING_HD void operator()(block& b) const { *result = b.take_packet<int>(mail, 7, pe).element[0]; }
};
struct load_all_reduce : call {
  STARLING_HD void operator()(block& b) const { *result = b.all_reduce(n, plus{}); }
};

// atomic: what others add to is never torn.
struct atomic_fetch_add_relaxed : call {
  STARLING_HD void operator()(block& b) const { *result = b.atomic_fetch_add(words, 7, pe); }
};
struct atomic_compare_swap : call {
  STARLING_HD void operator()(block& b) const { *result = b.atomic_compare_swap(words, 0, 1, pe); }
};

// To see that the test tells scopes apart: for the block's own PE alone.
struct narrow_store : call {
  STARLING_HD void operator()(block& b) const { gpu::device_atomic(sig.on(pe)->value).store(7); }
};

template <class... Calls>
void use(const void** to) {
  ((*to++ = target::entry_of<block, program_state, Calls, false, false>()), ...);
}

// Makes the compiler write them all.
void all_calls(const void** to) {
  use<release_signal_set, release_signal_add, release_put_signal, release_put_signal_of_warp,
      release_put_signal_of_thread, release_put_signal_made, release_put_signal_bulk, release_fence, release_quiet,
      release_atomic_set, release_atomic_fetch_add, release_trigger, release_own_warp, release_send,
      release_give_credit, release_sync_all, release_barrier_all, acquire_wait, acquire_wait_all, acquire_wait_each,
      acquire_test, acquire_atomic_fetch, acquire_await_credit, acquire_receive, acquire_sync_all, store_put_packets,
      store_all_reduce, store_broadcast, load_take_packet, load_all_reduce, atomic_fetch_add_relaxed,
      atomic_compare_swap, narrow_store>(to);
}

}  // namespace starling::ptx
