// block: the unit of execution inside a kernel and the only thing a kernel talks to. A thread block on a GPU, a worker
// thread on a virtual device. All calls are collectives of the block's threads unless they are made on warp() or
// thread().
#pragma once

#include "starling/device/bulk_transfer.hpp"
#include "starling/device/group.hpp"

namespace starling {

// What the threads of a block do together, but for what a block counts: barriers with other blocks and scratch memory.
template <class Self>
class whole_block : public group<Self> {
 public:
  using group<Self>::group;

  STARLING_HD int member() const {
    if constexpr (!target::on_gpu) return this->port().thread_of_block();
    return target::thread_index();
  }
  STARLING_HD int members() const { return this->threads_of_block(); }

  // The parts of a block, for calls that not all its threads make.
  STARLING_HD starling::warp warp() const { return starling::warp(static_cast<const Self&>(*this)); }
  STARLING_HD starling::thread thread() const { return starling::thread(static_cast<const Self&>(*this)); }

  // ---- within the block ----

  // All threads of the block; orders their memory accesses.
  STARLING_HD void sync([[maybe_unused]] where at = where::current()) const {
    if constexpr (!target::on_gpu) return this->port().sync(at);
    if (this->with_warp())
      (void)target::sync_part_of_block(members(), false);
    else
      target::sync_block();
  }
  // Barrier; how many threads passed true. Threads that have left the kernel do not count.
  STARLING_HD int votes(bool value, [[maybe_unused]] where at = where::current()) const {
    if constexpr (!target::on_gpu) return this->port().votes(value, at);
    return this->with_warp() ? target::votes_of_part(members(), value) : target::sync_block_count(value);
  }

  // Thread 0's value, to every thread.
  template <class T>
  STARLING_HD T first(const T& value, where at = where::current()) const {
    static_assert(sizeof(T) <= target::reduce_slot_bytes, "first carries up to 32 bytes");
    if constexpr (!target::on_gpu) return *reinterpret_cast<const T*>(this->port().gather(&value, sizeof(T), at));
    T& slot = *reinterpret_cast<T*>(target::reduce_slots());
    if (member() == 0) slot = value;
    sync();
    const T result = slot;
    this->end_if(false, operation::none, at);
    return result;
  }

  // Combines one value per thread in a fixed order; every thread gets the result. T: up to 32 bytes.
  template <class T, class Op>
  STARLING_HD T reduce(const T& value, Op op, where at = where::current()) const {
    const T result = detail::reduce_block(*this, value, op, at);
    this->end_if(false, operation::none, at);
    return result;
  }
};

// The threads of a block, to be handed by value to functions that are not inlined.
class block_threads : public whole_block<block_threads> {
 public:
  using whole_block<block_threads>::whole_block;
};

class block : public whole_block<block>, public bulk_transfer<block> {
 public:
  using bulk_transfer<block>::get;
  using bulk_transfer<block>::put;
  using bulk_transfer<block>::put_signal;
  using bulk_transfer<block>::send;
  using whole_block<block>::get;
  using whole_block<block>::put;
  using whole_block<block>::put_signal;
  using whole_block<block>::send;

  // Made by the launch: on a GPU from the state alone, on a virtual device with the block's number and port.
  STARLING_HD block(const program_state& state, target::entry_kind kind)
      : block(state, nullptr, target::block_index(), kind) {
    if constexpr (target::on_gpu && target::keeps_launch_state) *target::launch_state() = &state;
  }
  STARLING_HD block(const program_state& state, host_port* port, int index)
      : block(state, port, index, {.traced = state.trace.heads != nullptr}) {}
  block(const block&) = delete;
  block& operator=(const block&) = delete;

  // ---- who ----

  STARLING_HD starling::role role() const { return role_; }
  // Number of this block among those of its role on this PE, and how many those are.
  STARLING_HD int rank() const { return index() - state().roles.first[role_]; }
  STARLING_HD int count() const { return state().roles.first[role_ + 1] - state().roles.first[role_]; }
  // All blocks of this PE; index() is the block's number among them.
  STARLING_HD int blocks_per_pe() const { return state().n_blocks; }

  // This block's part of n items partitioned among the blocks of its role.
  STARLING_HD index_range my_share(index_t n) const { return share(n, count(), rank()); }

  // ---- within the block: see whole_block too ----

  STARLING_HD block_threads all_threads() const { return block_threads(*this); }

  // n objects of T that live in the block's scratch memory until the kernel returns (a GPU's shared memory). The launch
  // names how many bytes there are; asking for more ends the program with range_error. Not initialised.
  template <class T>
  STARLING_HD T* scratch(index_t n, where at = where::current()) {
    if constexpr (target::on_gpu) {
      const auto bytes = static_cast<std::uint64_t>(round_up(n * static_cast<index_t>(sizeof(T)), scratch_unit));
      if (bytes > state().scratch_bytes - scratch_used_) {
        end_program(block_state::out_of_range, operation::scratch, any_pe, scratch_used_ + bytes, at);
      }
      std::byte* start = target::dynamic_scratch() + scratch_used_;
      scratch_used_ += static_cast<std::uint32_t>(bytes);
      return reinterpret_cast<T*>(start);
    } else {
      return reinterpret_cast<T*>(port().scratch(static_cast<std::size_t>(n) * sizeof(T), at));
    }
  }

  // A part of the scratch memory for large copies, bulk_scratch_bytes of it: see bulk_buffer.hpp. One is enough.
  STARLING_HD bulk_buffer bulk_scratch(where at = where::current()) {
    std::byte* start = scratch<std::byte>(static_cast<index_t>(bulk_scratch_bytes), at);
    if constexpr (target::on_gpu) {
      if (member() == 0)
        for (std::uint64_t i = 0; i < bulk_stages; ++i) target::bulk_begin(bulk_buffer(start).barrier(i));
      target::fence_bulk();
      sync();
    }
    return bulk_buffer(start);
  }

  // ---- across blocks: every block of the program calls these, in the same order ----

  // All blocks of this PE, of every role. What they wrote before is seen by all of them after.
  STARLING_HD void sync_pe(where at = where::current()) {
    const trace_span span(*this, trace_operation::sync_pe, any_pe, 0);
    begin_collective({operation::sync_pe, 0, 0, any_pe, "", at});
    arrive(at);
    wait_as(operation::sync_pe, state().control.arrived, 1, compare::ge, arrivals_wanted(), pe(), at);
  }

  // All blocks of all PEs. What they wrote to their own PE's memory before is seen by gets after; puts need quiet()
  // before, as in OpenSHMEM's sync; barrier_all() does both.
  STARLING_HD void sync_all(where at = where::current()) {
    const trace_span span(*this, trace_operation::sync_all, any_pe, 0);
    meet(operation::sync_all, 0, plus{}, any_pe, at);
  }
  STARLING_HD void barrier_all(where at = where::current()) {
    quiet();
    sync_all(at);
  }

  // Combines one value per block over the machine: the blocks of each PE, then the PEs. Their order is kept, and how
  // they are grouped depends on their numbers alone, so the same configuration gives the same bits. Every block gets
  // the result. `op`: associative. Also a sync_pe. T: up to 32 bytes.
  template <class T, class Op>
  STARLING_HD T all_reduce(const T& value, Op op, where at = where::current()) {
    const trace_span span(*this, trace_operation::all_reduce, any_pe, 0);
    return meet(operation::all_reduce, value, op, any_pe, at, bits_on_host(value));
  }

  // The value that block 0 of PE `root` passed, to every block. Also a sync_pe. T: up to 24 bytes.
  template <class T>
  STARLING_HD T broadcast(const T& value, int root, where at = where::current()) {
    check_pe(root, operation::broadcast, at);
    const trace_span span(*this, trace_operation::broadcast, root, 0);
    struct offer {
      T value;
      std::int32_t valid;
    };
    const offer mine{value, pe() == root && index() == 0};
    auto valid_one = [](const offer& a, const offer& b) { return a.valid != 0 ? a : b; };
    return meet(operation::broadcast, mine, valid_one, root, at, mine.valid != 0 ? bits_on_host(value) : 0).value;
  }

  // ---- for launches ----

  // This block in place of block `index` of a launch that `state` describes. Not recorded in traces.
  STARLING_HD block in_place_of(const program_state& launch, host_port* port, int index) const {
    return block(launch, port, index, {.with_warp = this->with_warp()});
  }

  STARLING_HD void begin_trace() const { tracing::begin(state(), index()); }
  STARLING_HD void end_trace() const { tracing::end(state(), index()); }
  STARLING_HD void begin_network() const { network::begin(state(), index()); }
  STARLING_HD void end_network() const { network::end(*this); }

 private:
  STARLING_HD block(const program_state& state, host_port* port, int index, target::entry_kind kind)
      : whole_block<block>(state, port, index, kind), role_(state.roles.role_of(index)) {}

  STARLING_HD void begin_collective(const collective_call& c) const {
    check_resident(c.op, c.at);
    if constexpr (!target::on_gpu) port().collective(c);
  }

  STARLING_HD void arrive(where at) {
    ++arrivals_;
    signal* arrived = state().control.arrived.on(pe());
    if constexpr (target::on_gpu) {
      sync();
      if (member() == 0) gpu::device_atomic(arrived->value).fetch_add(1, cuda::memory_order_release);
    } else {
      port().update({arrived, signal_op::add, 1, pe(), at, true});
    }
  }

  // What check mode compares among threads.
  template <class T>
  STARLING_HD static std::uint64_t bits_on_host([[maybe_unused]] const T& value) {
    if constexpr (target::on_gpu)
      return 0;
    else
      return argument_bits(value);
  }

  // A launch of a stream has no words for meeting other PEs, and none at all unless it is resident.
  STARLING_HD void check_resident(operation op, where at) const {
    const control_words& c = state().control;
    if (static_cast<bool>(op == operation::sync_pe ? c.arrived : c.released)) return;
    if constexpr (target::on_gpu) {
      end_program(block_state::not_resident, op, any_pe, 0, at);
    } else {
      port().refuse_barrier(op, at);
    }
  }

  STARLING_HD std::uint64_t arrivals_wanted() const { return arrivals_ * static_cast<std::uint64_t>(state().n_blocks); }

  // The machine-wide barrier that carries a value: blocks leave theirs with block 0 of their PE, the blocks 0 exchange
  // theirs, and tell their PE's blocks the result.
  template <class T, class Op>
  STARLING_HD T meet(operation op, const T& value, Op combine, int root, where at, std::uint64_t value_bits = 0) {
    static_assert(sizeof(T) <= small_value_bytes && std::is_trivially_copyable_v<T>,
                  "all_reduce and broadcast carry trivially copyable values of up to 32 bytes");
    const control_words& c = state().control;
    begin_collective({op, sizeof(T), value_bits, root, combining_name<Op>(), at});
    ++meetings_;
    if (state().n_blocks == 1) return exchange(op, op == operation::sync_all ? value : first(value), combine, at);
    if (op != operation::sync_all && member() == 0) as<T>(c.block_values.on(pe())[index()]) = value;
    arrive(at);
    if (index() == 0) {
      wait_as(op, c.arrived, 1, compare::ge, arrivals_wanted(), pe(), at);
      T sum = value;
      if (op != operation::sync_all)
        sum = detail::reduce_many<T>(
            state().n_blocks, combine,
            [&, values = c.block_values.on(pe())](int i) -> const T& { return as<T>(values[i]); });
      sum = exchange(op, sum, combine, at);
      if (op != operation::sync_all && member() == 0) as<T>(*c.result.on(pe())) = sum;
      release(at);
      return sum;
    }
    wait_as(op, c.released, 1, compare::ge, meetings_, pe(), at);
    return op == operation::sync_all ? value : as<T>(*c.result.on(pe()));
  }

  template <class T>
  STARLING_HD static T& as(small_value& v) {
    return *reinterpret_cast<T*>(&v);
  }

  // Lets the other blocks of this PE go on.
  STARLING_HD void release(where at) {
    signal* released = state().control.released.on(pe());
    if constexpr (target::on_gpu) {
      sync();
      if (member() == 0) gpu::device_atomic(released->value).store(meetings_, cuda::memory_order_release);
    } else {
      port().update({released, signal_op::set, meetings_, pe(), at, true});
    }
  }

  // Block 0 of every PE: all values to all PEs as packets, then each adds them in PE order. A packet and its number
  // arrive together, so one flight is all it takes; only sync_all orders other memory too.
  template <class T, class Op>
  STARLING_HD T exchange(operation op, const T& mine, Op combine, where at) {
    constexpr int pieces = static_cast<int>((sizeof(T) + 7) / 8);
    if (n_pes() == 1) {
      end_if(false, op, at);
      return mine;
    }
    // A PE that has all packets of this round may start the next one while others still read this round's.
    const index_t round = static_cast<index_t>(meetings_ % 2) * n_pes();
    const sym<packet> boxes = state().control.pe_packets + round * small_value_packets;
    if constexpr (target::on_gpu) {
      if (op == operation::sync_all) {
        meet_pes(boxes, at);
        return mine;
      }
    }
    if (op == operation::sync_all) sync(at);  // the packets then tell of what all threads have written
    small_value packed{};
    as<T>(packed) = mine;
    for (int i = member(); i < n_pes() * pieces; i += members())
      put_packet(boxes + (pe() * small_value_packets + i % pieces), packed.word[i % pieces], meetings_, i / pieces, at,
                 op == operation::sync_all);
    bool failed = false;
    for (int i = member(); i < n_pes() * pieces; i += members()) {
      const sym<packet> box = boxes + (i / pieces * small_value_packets + i % pieces);
      const bool came = await_packet(op, box, meetings_, i / pieces, at, gathered(i / pieces).word[i % pieces]);
      failed = failed || !came;
    }
    end_if(failed, op, at);
    T sum = as<T>(gathered(0));
    for (int i = 1; i < n_pes(); ++i) sum = combine(sum, as<T>(gathered(i)));
    sync();  // before the slots are used again
    return sum;
  }

  // The exchange of sync_all on a GPU: thread i tells PE i with one release, which covers what the block's barrier has
  // gathered, and hears of PE i with acquiring loads. A fence behind the wait would first wait for this thread's own
  // stores to come home, a flight there and back. No value travels, so the second word of a packet is enough; it holds
  // what a packet with this number and no data would, so that the boxes serve all meetings.
  STARLING_HD void meet_pes(sym<packet> boxes, where at) {
    constexpr int number_bits = 32;
    const std::uint64_t word = meetings_ << number_bits;
    sync();
    bool failed = false;
    for (int i = member(); i < n_pes(); i += members()) {
      std::uint64_t& there = (boxes + pe() * small_value_packets).on(i)->number.value;
      if (behind_card(i))
        failed = failed || !network::request(*this, [&](auto card) {
                   return card.put_words(state(), index(), context_number(), i, &there, &word, 1, at);
                 });
      else
        gpu::system_atomic(there).store(word, cuda::memory_order_release);
    }
    for (int i = member(); i < n_pes(); i += members()) {
      signal& told = (boxes + i * small_value_packets).on(pe())->number;
      const wait_request request{&told, compare::eq, meetings_, i, operation::sync_all, at};
      const bool came = gpu::poll(state(), index(), request, [&] {
        const std::uint64_t seen = gpu::system_atomic(told.value).load(cuda::memory_order_acquire);
        return seen == word ? meetings_ : seen >> number_bits;
      });
      failed = failed || !came;
    }
    end_if(failed, operation::sync_all, at);
  }

  // Where the value of PE i is put together: the block's shared memory on a GPU.
  STARLING_HD small_value& gathered(int i) const {
    if constexpr (target::on_gpu) return reinterpret_cast<small_value*>(target::reduce_slots())[i];
    return state().control.pe_values.on(pe())[i];
  }

  starling::role role_;
  std::uint32_t scratch_used_ = 0;
  std::uint64_t arrivals_ = 0;
  std::uint64_t meetings_ = 0;
};

}  // namespace starling
