#include "card_kernel.hpp"

#include "../network/card_rules.hpp"
#include "check.hpp"
#include "starling/base/error.hpp"
#include "starling/device/gpu_copy.hpp"

namespace starling::on_cuda {
namespace {

using namespace network;

constexpr int lanes = 32;
constexpr int most_regions = 64;
constexpr unsigned all_lanes = 0xffffffffu;

// PEs and regions as the card keeps them, in the block's shared memory: to acquire a record empties the L1 cache.
struct card_tables {
  card_view pe[most_regions];
  memory_region region[most_regions];
  std::uint64_t taken[card_threads / lanes][most_regions];  // queues that blocks have, by warp and its PEs
};

template <class Word>
__device__ void change_word(const order& o) {
  const auto word = gpu::system_atomic(*reinterpret_cast<Word*>(o.remote));
  Word old = static_cast<Word>(o.compare);
  if (o.what == opcode::fetch_add)
    old = word.fetch_add(static_cast<Word>(o.operand), cuda::memory_order_acq_rel);
  else
    (void)word.compare_exchange_strong(old, static_cast<Word>(o.operand), cuda::memory_order_acq_rel);
  memcpy(reinterpret_cast<void*>(o.local), &old, sizeof old);
}
__device__ void change(const order& o) {
  if (o.bytes == 8)
    change_word<std::uint64_t>(o);
  else
    change_word<std::uint32_t>(o);
}
__global__ void change_entry(const __grid_constant__ order o) { change(o); }

// One warp of a card: carries out the entries of a queue, in order, one after the other.
class card_warp {
 public:
  __device__ explicit card_warp(const region_table& memory)
      : memory_(memory), lane_(static_cast<int>(threadIdx.x) % lanes) {}

  // Up to the index that the record told: four entries are fetched at a time, a lane for each word.
  __device__ void serve(const queue_pair& q, std::uint16_t told, card_progress& p) {
    constexpr std::uint16_t together = 4;
    while (p.fetched != told) {
      const auto left = static_cast<std::uint16_t>(told - p.fetched);
      const std::uint16_t n = left < together ? left : together;
      const auto mine = static_cast<std::uint16_t>(p.fetched + (lane_ / 8 < n ? lane_ / 8 : 0));
      const std::uint64_t word =
          gpu::system_atomic(q.ring[mine & (q.depth - 1)].word[lane_ % 8]).load(cuda::memory_order_relaxed);
      for (int i = 0; i < n; ++i, ++p.fetched) {
        entry e;
        for (int w = 0; w < 8; ++w) e.word[w] = __shfl_sync(all_lanes, word, 8 * i + w);
        serve_one(q, e, p);
      }
    }
  }

 private:
  __device__ void serve_one(const queue_pair& q, const entry& e, card_progress& p) {
    order o;
    const bool whole = parsed(e, o);
    const status result = p.failed != 0 ? status::flushed : judge(o, whole, {q.number, p.fetched}, memory_);
    if (result == status::ok) {
      carry_out(o);
    } else {
      p.failed = 1;
      o.index = p.fetched;
    }
    if (result == status::ok && (o.flags & wants_completion) == 0) return;
    complete(q.completions[p.completions & (q.depth - 1)],
             completion_of(o, result, q.number, owner_of(p.completions, q.depth)));
    ++p.completions;
  }

  // Between the parts of it the lanes meet, so that what lane 0 releases covers what all of them have written.
  __device__ void carry_out(const order& o) const {
    if (is_atomic(o.what)) {
      if (lane_ == 0) change(o);
    } else if (o.carries) {
      if (lane_ == 0) write_carried(o);
    } else {
      // What is released by lane 0 alone is not enough before stores of the others.
      if ((o.flags & fenced) != 0) target::release_system();
      __syncwarp();
      const bool write = o.what == opcode::write;
      move(reinterpret_cast<std::byte*>(write ? o.remote : o.local),
           reinterpret_cast<const std::byte*>(write ? o.local : o.remote), static_cast<index_t>(o.bytes));
    }
    __syncwarp();
  }

  // Words that blocks may wait for arrive whole.
  __device__ void move(std::byte* to, const std::byte* from, index_t n) const {
    const auto ends = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    const auto all = ends | static_cast<std::uint64_t>(n);
    if (ends % 16 == 0)
      gpu::copy(lane_, lanes, to, from, n);
    else if (all % 8 == 0)
      copy_as<std::uint64_t>(to, from, n);
    else if (all % 4 == 0)
      copy_as<std::uint32_t>(to, from, n);
    else
      for (index_t i = lane_; i < n; i += lanes) to[i] = from[i];
  }
  template <class Word>
  __device__ void copy_as(std::byte* to, const std::byte* from, index_t n) const {
    const auto words = n / static_cast<index_t>(sizeof(Word));
    for (index_t i = lane_; i < words; i += lanes)
      reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[i];
  }

  // With a fence, words tell of what was before them: of the entries, and of what the block had written. Loops of a
  // fixed length keep the entry in registers.
  __device__ static void write_carried(const order& o) {
    if ((o.flags & fenced) != 0) target::release_system();
    if (o.bytes == 8 && o.remote % 8 == 0) return store_words<std::uint64_t>(o);
    if (o.bytes % 4 == 0 && o.remote % 4 == 0) return store_words<std::uint32_t>(o);
    auto* to = reinterpret_cast<unsigned char*>(o.remote);
#pragma unroll
    for (std::uint32_t i = 0; i < inline_bytes; ++i)
      if (i < o.bytes) to[i] = o.data[i];
  }
  template <class Word>
  __device__ static void store_words(const order& o) {
#pragma unroll
    for (std::uint32_t i = 0; i < inline_bytes / sizeof(Word); ++i) {
      if (i >= o.bytes / sizeof(Word)) continue;
      Word value;
      memcpy(&value, o.data + i * sizeof(Word), sizeof value);
      gpu::system_atomic(reinterpret_cast<Word*>(o.remote)[i]).store(value, cuda::memory_order_relaxed);
    }
  }

  __device__ void complete(completion& place, const completion& c) const {
    if (lane_ != 0) return;
    for (int i = 0; i < 7; ++i) gpu::system_atomic(place.word[i]).store(c.word[i], cuda::memory_order_relaxed);
    gpu::system_atomic(place.word[7]).store(c.word[7], cuda::memory_order_release);
  }

  region_table memory_;
  int lane_;
};

// A lane for each of 32 queues of a PE, `first`, `first` + `step` and so on, of which blocks have `taken`: those whose
// records tell of entries are served. A record is acquired: what the block wrote before it is there for all lanes.
__device__ void serve_some(const card_view& v, std::uint64_t first, std::uint64_t step, std::uint64_t taken,
                           const region_table& memory) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const std::uint64_t queue = first + static_cast<std::uint64_t>(lane) * step;
  const bool mine = queue < taken;
  card_progress p;
  std::uint16_t told = 0;
  if (mine) {
    p = v.progress[queue];
    told = told_by_record(gpu::system_atomic(v.records[queue]).load(cuda::memory_order_acquire));
  }
  const bool news = mine && told != p.fetched && is_news(told, p.fetched, v.depth);
  unsigned some = __ballot_sync(all_lanes, news);
  if (some == 0) return;
  card_warp w(memory);
  for (; some != 0; some &= some - 1) {
    const int of = __ffs(static_cast<int>(some)) - 1;
    card_progress now;
    now.completions = __shfl_sync(all_lanes, p.completions, of);
    now.fetched = static_cast<std::uint16_t>(__shfl_sync(all_lanes, static_cast<unsigned>(p.fetched), of));
    now.failed = static_cast<std::uint16_t>(__shfl_sync(all_lanes, static_cast<unsigned>(p.failed), of));
    const auto upto = static_cast<std::uint16_t>(__shfl_sync(all_lanes, static_cast<unsigned>(told), of));
    const std::uint64_t served = first + static_cast<std::uint64_t>(of) * step;
    w.serve(pair_of(v, static_cast<std::uint32_t>(served)), upto, now);
    if (lane == of) v.progress[served] = now;
  }
}

// Whether the blocks of the host have ended, or the run is.
__device__ bool is_over(const program_state& s, const card_tables& t, int pes, std::uint64_t blocks) {
  if (gpu::program_ended(s)) return true;
  std::uint64_t ended = 0;
  for (int i = 0; i < pes; ++i) ended += gpu::system_atomic(t.pe[i].counts->ended).load(cuda::memory_order_relaxed);
  return ended == blocks * static_cast<std::uint64_t>(pes);
}

// Warps are partitioned among PEs, and the queues of a PE to its warps in turn. How many queues blocks have is looked
// at seldom: so long takes the first call of a queue, not the others.
__device__ void serve_host(const program_state& s, card_tables& t, int pes, const region_table& memory,
                           std::uint64_t blocks) {
  const int warps = static_cast<int>(blockDim.x) / lanes;
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  const int step = pes < warps ? pes : warps;
  const int first = warp % step;
  const std::uint64_t shares = pes < warps ? static_cast<std::uint64_t>((warps - first + step - 1) / step) : 1;
  const std::uint64_t share = pes < warps ? static_cast<std::uint64_t>(warp / step) : 0;
  std::uint64_t* const taken = t.taken[warp];
  for (unsigned round = 0;; ++round) {
    constexpr unsigned rounds_between = 16;
    const bool look = round % rounds_between == 0;
    for (int i = first, k = 0; i < pes; i += step, ++k) {
      const card_view& v = t.pe[i];
      if (look) {
        // Lanes that looked for themselves might differ, and part.
        const std::uint64_t now =
            __shfl_sync(all_lanes, gpu::system_atomic(v.counts->taken).load(cuda::memory_order_relaxed), 0);
        if (threadIdx.x % lanes == 0) taken[k] = now < v.n_queues ? now : v.n_queues;
        __syncwarp();
      }
      for (std::uint64_t q = share; q < taken[k]; q += shares * lanes) serve_some(v, q, shares, taken[k], memory);
    }
    if (look && __any_sync(all_lanes, is_over(s, t, pes, blocks))) return;
  }
}

struct served {
  sym<card_view> views;
  std::uint64_t blocks;  // of the program, on each PE
};

// Not an entry of a block: what it does is for GPUs alone.
__global__ void __launch_bounds__(card_threads, 3)
    card_entry(const __grid_constant__ program_state state, const __grid_constant__ served program) {
  __shared__ card_tables tables;
  const card_view& mine = *program.views.on(state.pe);
  const int me = static_cast<int>(threadIdx.x);
  int pes = 0;
  for (int pe = 0; pe < state.n_pes; ++pe) {
    if (mine.host_of[pe] != mine.host_of[state.pe]) continue;
    if (pe < state.pe) return;  // that PE's block is the card
    if (me == 0) tables.pe[pes] = *program.views.on(pe);
    ++pes;
  }
  for (int i = me; i < mine.memory.all; i += static_cast<int>(blockDim.x)) tables.region[i] = mine.memory.regions[i];
  __syncthreads();
  serve_host(state, tables, pes, {tables.region, mine.memory.pes, mine.memory.all}, program.blocks);
}

}  // namespace

kernel card_kernel(sym<network::card_view> views, std::uint64_t blocks) {
  kernel k;
  k.on_host = [](const void*, block&) { throw unsupported_error("a GPU's network card was run on a virtual device"); };
  k.on_gpu = reinterpret_cast<const void*>(&card_entry);
  k.name = "network card";
  k.closure = std::make_shared<const served>(served{views, blocks});
  k.closure_bytes = sizeof(served);
  return k;
}

void launch_change(const network::order& o, cudaStream_t stream, int pe) {
  change_entry<<<1, 1, 0, stream>>>(o);
  check(cudaGetLastError(), "cudaLaunchKernel (network card)", pe);
}

void load_change() {
  cudaFuncAttributes facts{};
  check(cudaFuncGetAttributes(&facts, change_entry), "cudaFuncGetAttributes (network card)");
}

}  // namespace starling::on_cuda
