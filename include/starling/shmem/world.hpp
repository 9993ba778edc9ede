// OpenSHMEM on the host: the host is none of the PEs of a machine, and what it puts and gets goes to the memory of the
// PE that it names, which may be one of another process.
//
//   shmem::world w(machine::best());
//   const auto box = w.calloc<double>(n);    // on every PE; freed with the array, or by w.free(box)
//   w.on(1).put(box, x.data(), n);           // from memory of the host to PE 1
//   const double first = w.on(1).g(box);
//
// Every call is done when it returns, so fence and quiet have no counterpart. Where a machine has several processes,
// malloc, calloc, align and barrier_all are collective; in one, barrier_all has nothing to wait for. Kernels run by
// machine::run, between calls. Memory is symmetric_array, so that it is the machine's and kernels take its handles:
// data() and view(). PEs that do not exist and ranges outside of one live allocation are a range_error, which names
// them.
#pragma once

#include <optional>

#include "starling/shmem/pe_memory.hpp"
#include "starling/shmem/symmetric_team.hpp"

namespace starling::shmem {

// What shmem_info_get_version and shmem_info_get_name tell: the version of OpenSHMEM whose names and meanings these
// are.
inline constexpr int major_version = 1;
inline constexpr int minor_version = 5;
inline constexpr const char* library_name = "Starling";

class world {
 public:
  explicit world(starling::machine m) : machine_(std::move(m)) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  int n_pes() const { return machine_.size(); }
  // To run programs by.
  starling::machine& machine() { return machine_; }

  // n objects on every PE; malloc leaves them as they are (signals are 0), calloc makes all bytes 0. memory_error with
  // the sizes where they do not fit. One call is for all PEs, so that sizes cannot differ between them.
  template <class T>
  symmetric_array<T> malloc(index_t n) {
    return machine_.allocate<T>(n);
  }
  template <class T>
  symmetric_array<T> calloc(index_t n) {
    auto fresh = machine_.allocate<T>(n);
    const index_range mine = machine_.local_pes();
    for (index_t pe = mine.begin; pe < mine.end; ++pe)
      machine_.fill(fresh.on(static_cast<int>(pe)), 0, static_cast<std::size_t>(n) * sizeof(T));
    machine_.meet();  // what another process puts from now on stays
    return fresh;
  }
  // At a multiple of `alignment`, a power of two up to 256, at which every allocation begins.
  template <class T>
  symmetric_array<T> align(std::size_t alignment, index_t n) {
    check_alignment(alignment);
    return malloc<T>(n);
  }
  template <class T>
  void free(symmetric_array<T>& x) {
    x.reset();
  }

  // The memory of PE `pe`; range_error where there is none.
  pe_memory on(int pe);

  // Teams of these PEs: see symmetric_team.hpp. Kernels take the handle().
  symmetric_team team_world(const team_options& options = {}) { return shmem::team_world(machine_, options); }
  symmetric_team team_split_strided(const team& parent, int start, int stride, int size,
                                    const team_options& options = {}) {
    return shmem::team_split_strided(machine_, parent, start, stride, size, options);
  }
  split_axes team_split_2d(const team& parent, int xrange, const team_options& x = {}, const team_options& y = {}) {
    return shmem::team_split_2d(machine_, parent, xrange, x, y);
  }

  // Returns when every process has come here: what any of them has put before is there on every PE.
  void barrier_all() const { machine_.meet(); }

 private:
  friend class pe_memory;
  static void check_alignment(std::size_t alignment);

  starling::machine machine_;
  std::optional<stream> rows_;  // by which strided copies go
};

}  // namespace starling::shmem
