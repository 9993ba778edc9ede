// region<T>: an array that every PE has, of which each PE writes a part, and that sends itself: finished chunks travel
// to the other PEs while the kernel still runs, and readers read their own copy (PROACT; regions, design). Owns the
// copies and the words; freed when the owner dies. Kernels get the plain handle(): see region/handle.hpp for what they
// may do.
//
//   st::region<float> x(m, n);
//   x.load(values);                                            // epoch 0, on every PE
//   m.run(x.programs(8, STARLING_KERNEL(st::block& b) { ... })); // adds the agent's blocks
//   x.read(0, epoch, values);
#pragma once

#include <bit>
#include <span>

#include "starling/base/rotation.hpp"
#include "starling/machine/machine.hpp"
#include "starling/region/handle.hpp"
#include "starling/region/launched_kernel.hpp"
#include "starling/region/with_own_warp.hpp"

namespace starling {

class copy_plan;
struct region_layout;
class region_partition;
template <class T>
class region_read;
template <class T>
class region_update;
namespace stf {
template <int Rank>
class box;
}

// When the last programs that write a region ran on a PE, and when their chunks had arrived at the other PEs, in
// seconds after the kernel began.
struct region_times {
  double kernel = 0;  // its end
  int arrived = 0;    // chunks that arrived anywhere; of none the two times are 0
  double first_arrival = 0;
  double last_arrival = 0;
  int after_end = 0;  // chunks that arrived, the last time, when the kernel was over
  double waited = 0;  // in await, by all blocks together
};

// What a region has moved, worked out from its layout.
struct region_report {
  region_agent agent;
  region_sending sending;  // values are those of the program only with region_sending::all
  paced links;             // simulated, if any
  int chunks;              // of all PEs
  std::size_t chunk_bytes;
  int tiles;                                   // of all PEs
  std::uint64_t epoch;                         // the last that is complete on every PE
  std::vector<std::uint64_t> bytes_per_epoch;  // [from * PEs + to] that go there
  std::vector<std::uint64_t> bytes_left_out;   // the same, since load: of chunks that were unchanged, and not sent
  std::uint64_t host_bytes_per_epoch = 0;      // to the host, by all PEs
  // Pieces of 128-byte lines that an epoch's stores to other PEs come in: inline, by warps that write each range in
  // order, and of whole chunks.
  std::uint64_t line_stores_inline = 0;
  std::uint64_t line_stores_by_chunk = 0;
  std::vector<region_times> times = {};  // by PE, with region_options::timed
  int agent_blocks = 0;                  // of each PE, or streams, that send; 0: those that write do
};

// The untyped part of region: layout, words and copies.
class region_memory {
 public:
  region_memory(machine& m, index_t n, std::size_t element, const region_options& options);
  region_memory(region_memory&&) noexcept;
  region_memory& operator=(region_memory&&) noexcept;
  ~region_memory();

  const region_state& state() const { return state_; }
  index_t pitch() const { return pitch_; }
  sym<std::byte> values() const { return values_.data(); }
  int n_pes() const { return machine_.size(); }
  const machine& on() const { return machine_; }

  index_range part(int pe) const;
  int chunk_of(index_t element) const;
  // Where parts begin, and the end; stays where it is as long as the region lives.
  const std::vector<index_t>& bounds() const { return *bounds_; }
  int tiles(int pe) const;
  // Of the agent, in a launch that writes the region; launch_error if blocks that write might find no room beside them.
  int blocks_in_launch() const;
  // Why launches and tasks cannot write the region; empty: they can.
  std::string for_programs_alone() const;
  void check_launch(int blocks, const launch_options& options) const;
  // Launches a kernel that writes one epoch, and what copy engines send of it. `buffer`: where the epoch lies, as
  // turn() gave it; without one it says nothing.
  void launch(stream& s, int blocks, const kernel& k, const launch_options& options, int buffer) const;
  // For the copy engine: which buffers launches on a PE write. Else null.
  std::shared_ptr<rotation> turn(int pe) const;
  // How often there was a new epoch 0.
  std::uint64_t loads() const { return loads_; }
  std::uint64_t epoch() const;
  region_report report() const;
  void load(const std::byte* values);
  void read(int pe, std::uint64_t epoch, std::byte* values) const;
  void collect(std::uint64_t epoch, std::byte* values) const;
  std::uint64_t host_epoch() const;
  void wait_host(std::uint64_t epoch, double deadline) const;
  const std::byte* on_host(std::uint64_t epoch) const;
  // For the copy engine; else null.
  std::shared_ptr<triggered_copies> copies() const;
  // Own warps: whether they are in the blocks that write, and room for what so many of these hand to them.
  bool warps_in_blocks() const;
  void make_rings(int blocks);
  // As programs begin: what a program that failed has left of its end is forgotten.
  void begin();

 private:
  void check_held(std::uint64_t epoch) const;
  void copy_out(int pe, std::uint64_t epoch, index_range elements, std::byte* values) const;
  template <class V>
  sym<const V> keep(const std::vector<std::vector<V>>& of_pes);
  void keep_layout();
  void allocate_words();
  void allocate_measuring(const region_options& options);
  std::vector<region_times> times() const;
  void clear_words();
  void clear_rings();

  mutable machine machine_;
  std::shared_ptr<const region_layout> layout_;
  std::size_t element_;
  index_t pitch_;
  region_state state_;
  std::unique_ptr<std::vector<index_t>> bounds_;
  std::uint64_t loads_ = 0;
  symmetric_array<std::byte> values_;
  std::vector<symmetric_array<std::byte>> tables_;
  symmetric_array<std::uint64_t> counters_;
  symmetric_array<signal> signals_;
  symmetric_array<region_item> items_;
  symmetric_array<region_due> due_;
  symmetric_array<std::uint64_t> hashes_;
  symmetric_array<std::uint64_t> times_;
  symmetric_array<region_item> ring_items_;
  symmetric_array<signal> ring_signals_;
  symmetric_array<std::uint64_t> ring_tickets_;
  symmetric_array<region_rings> rings_;
  local_memory host_values_;
  local_memory host_arrived_;
  paced links_;
  std::shared_ptr<copy_plan> copies_;
};

template <class T>
class region {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::has_single_bit(sizeof(T)) && sizeof(T) <= 16,
                "a region holds trivially copyable types of 1, 2, 4, 8 or 16 bytes");

  // n elements. One call for the whole machine, which it uses as long as it lives. Throws argument_error that names the
  // option, memory_error as machine::allocate does.
  region(machine& m, index_t n, const region_options& options = {}) : memory_(m, n, sizeof(T), options) {}

  index_t size() const { return memory_.state().size; }
  // The elements that PE `pe` writes.
  index_range part(int pe) const { return memory_.part(pe); }
  // The number of the chunk with an element, as epoch_view::stored takes it.
  int chunk_of(index_t element) const { return memory_.chunk_of(element); }

  // Epoch 0, on every PE, and no other: kernels go on with epoch 1. Needed before the first kernel, and after one that
  // has failed. Throws argument_error for another number of values.
  void load(std::span<const T> values) {
    check(values.size(), "load");
    memory_.load(reinterpret_cast<const std::byte*>(values.data()));
  }
  // The last epoch that is complete on every PE, between programs.
  std::uint64_t epoch() const { return memory_.epoch(); }
  // An epoch as PE `pe` has it: the last that is complete, or, with two buffers, the one before. What the PE does not
  // subscribe to has no meaning.
  void read(int pe, std::uint64_t epoch, std::span<T> values) const {
    check(values.size(), "read");
    memory_.read(pe, epoch, reinterpret_cast<std::byte*>(values.data()));
  }

  // The same as the PEs have their own parts.
  void collect(std::uint64_t epoch, std::span<T> values) const {
    check(values.size(), "collect");
    memory_.collect(epoch, reinterpret_cast<std::byte*>(values.data()));
  }

  // With subscribers::and_host: the last epoch that the host has all of. Any thread may ask while kernels run.
  std::uint64_t host_epoch() const { return memory_.host_epoch(); }
  // Until the host has it; region_error when so many seconds have passed.
  void wait_host(std::uint64_t epoch, double deadline) const { memory_.wait_host(epoch, deadline); }
  // An epoch that the host has, in pinned memory. It is there until a kernel writes epoch + buffers, which does not
  // wait for the host. Throws argument_error for one that is not there.
  std::span<const T> on_host(std::uint64_t epoch) const {
    return {reinterpret_cast<const T*>(memory_.on_host(epoch)), static_cast<std::size_t>(size())};
  }

  region_report report() const { return memory_.report(); }

  // The handle for kernels.
  region_handle<T> handle() const {
    const sym<std::byte> v = memory_.values();
    return {memory_.state(), {reinterpret_cast<T*>(v.on(0)), v.stride_bytes()}, memory_.pitch()};
  }

  // ---- in tasks: include starling/region/tasks.hpp, which says what these are ----

  stf::box<1> shape() const;
  // Which PE writes which elements.
  region_partition partition() const;
  region_read<T> read(where at = where::current()) const;
  region_update<T> update(where at = where::current()) const;

  // ---- in programs ----

  // For machine::run: this kernel, and the agent, which counts in what must fit. The agent has at most the kernel's
  // threads. Throws argument_error where the agent is own_warp and the kernel is no with_own_warp.
  template <kernel_function F>
  std::vector<program> programs(const role_plan& roles, const F& f, const launch_options& options = {}) {
    memory_.begin();
    const region_handle<T> h = handle();
    std::vector<program> all{{roles, kernel_of(f), options}};
    if (h.state().has_own_warps(memory_.n_pes())) memory_.make_rings(roles.blocks());
    if (h.state().has_agent() && h.state().leaves(memory_.n_pes()))
      region_words::add_agent(all, h.state(), h.values(), h.pitch(), memory_.copies(), memory_.warps_in_blocks(),
                              options);
    return all;
  }
  template <kernel_function F>
  std::vector<program> programs(int blocks, const F& f, const launch_options& options = {}) {
    role_plan all;
    all.add("all", blocks);
    return programs(all, f, options);
  }

  // How many blocks of such a program fit on a PE at once, beside those of the agent.
  template <kernel_function F>
  int blocks_that_fit(const F& f, const launch_options& options = {}) const {
    const region_state s = handle().state();
    const int fit = memory_.on().blocks_that_fit(kernel_of(f), options);
    if (s.has_own_warps(memory_.n_pes()) && !memory_.warps_in_blocks()) return fit / 2;  // each has a block beside it
    const bool in_blocks = s.agent == region_agent::polling || s.agent == region_agent::launched;
    return fit - (in_blocks && s.has_agent() && s.leaves(memory_.n_pes()) ? s.agent_blocks : 0);
  }

  // ---- in streams ----

  // Puts one epoch of the stream's PE into it: `blocks` blocks of this kernel, which distributes all tiles of the part
  // once, and the agent's, in one launch. Plain, as stream::launch, and over when all subscribers have the part, so
  // that events order who reads it; recorded launches take their epoch from region_handle::newest. With the copy engine
  // a recording has as many launches on each PE as there are buffers, or a multiple.
  template <kernel_function F>
  void launch(stream& s, int blocks, const F& f, const launch_options& options = {}) const {
    memory_.check_launch(blocks, options);
    const int agents = memory_.blocks_in_launch();
    // A GPU starts blocks in the order of their numbers, virtual devices run them one after the other.
    const bool agents_first = memory_.on().kind() == machine_kind::cuda;
    const kernel k = make_kernel(region_words::launched_kernel<T, F>{handle(), f, blocks, agents_first});
    const std::shared_ptr<rotation> turn = memory_.turn(s.pe());
    memory_.launch(s, blocks + agents, k, options, turn ? turn->take() : 0);
  }

 private:
  // The kernel of programs.
  template <kernel_function F>
  kernel kernel_of(const F& f) const {
    const region_handle<T> h = handle();
    const region_words::writing_kernel<F> writes{f, h.state()};
    if constexpr (region_words::asks_for_own_warp<F>) {
      if (h.state().has_own_warps(memory_.n_pes()) && memory_.warps_in_blocks()) {
        const own_warp_agent<T> agent{h.state(), h.values(), h.pitch()};
        return make_kernel(region_words::writing_kernel_with_warp<F, own_warp_agent<T>>{writes, agent});
      }
    } else {
      expect<argument_error>(h.state().agent != region_agent::own_warp,
                             "region::programs: the region's agent is own_warp, and the kernel has no entry with one "
                             "more warp; hand over st::with_own_warp(kernel), or choose another agent");
    }
    return make_kernel(writes);
  }

  void check(std::size_t n, const char* call) const {
    expect<argument_error>(n == static_cast<std::size_t>(size()), "region::", call, ": ", n, " values for ", size(),
                           " elements; give one for each");
  }

  region_memory memory_;
};

}  // namespace starling
