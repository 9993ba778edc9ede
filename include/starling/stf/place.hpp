// Where tasks run and where their data lies: a device, the host, or a grid of devices. Places are small values and know
// no machine; a context checks them against its own.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "starling/stf/partition.hpp"

namespace starling::stf {

// Where a task runs.
class exec_place {
 public:
  // Device `pe` of the context's machine, from 0.
  static exec_place device(int pe) { return exec_place(kind::device, pe); }
  static exec_place host() { return exec_place(kind::host, 0); }
  // All devices of the context's machine, as one grid.
  static exec_place all_devices() { return exec_place(kind::all, 0); }
  // These devices as one grid, in this order; a device may appear more than once.
  static exec_place grid(std::vector<int> pes);
  // The device on which the context expects the task to end first, chosen when the task is submitted.
  static exec_place automatic() { return exec_place(kind::automatic, 0); }
  // What a task gets that names no place: device 0.
  exec_place() = default;

  bool is_automatic() const { return kind_ == kind::automatic; }
  bool is_host() const { return kind_ == kind::host; }
  // Whether it was made by all_devices or grid.
  bool is_grid() const { return kind_ == kind::all || kind_ == kind::grid; }
  // The first device; 0 for the host.
  int first() const { return pe_; }
  // The devices of this place on a machine of n_pes devices; empty for the host. Throws range_error for one that the
  // machine does not have, argument_error for automatic(), which names none.
  std::vector<int> devices(int n_pes) const;

  friend bool operator==(const exec_place& a, const exec_place& b);

 private:
  enum class kind { device, host, all, grid, automatic };
  exec_place(kind k, int pe) : kind_(k), pe_(pe) {}

  kind kind_ = kind::device;
  int pe_ = 0;
  std::shared_ptr<const std::vector<int>> grid_;
};

std::string describe(const exec_place& p);

// A partitioner (starling/stf/partition.hpp) without its type.
class any_partitioner {
 public:
  any_partitioner() = default;
  template <class Partitioner>
  explicit any_partitioner(const Partitioner& p) : owner_(&owner_of<Partitioner>) {
    static_assert(std::is_trivially_copyable_v<Partitioner> && sizeof(Partitioner) <= sizeof(held_),
                  "a partitioner of a data place is trivially copyable and has up to 16 bytes");
    if constexpr (!std::is_empty_v<Partitioner>) std::memcpy(held_.data(), &p, sizeof p);
  }

  // Which of `count` owners an element of an array has: coordinates and extents of 1 to 8 dimensions, the slowest
  // first. The partitioner sees them in the order of the array's indices, which is the opposite one in column-major
  // arrays.
  int owner(const index_t* coords, const index_t* extents, int rank, bool column_major, int count) const {
    return owner_(held_.data(), coords, extents, rank, column_major, count);
  }

  friend bool operator==(const any_partitioner&, const any_partitioner&) = default;

 private:
  template <class Partitioner>
  static int owner_of(const std::byte* held, const index_t* coords, const index_t* extents, int rank, bool column_major,
                      int count) {
    Partitioner p{};
    if constexpr (!std::is_empty_v<Partitioner>) std::memcpy(&p, held, sizeof p);
    index_t owner = 0;
    [&]<int... R>(std::integer_sequence<int, R...>) {
      ((rank == R + 1 ? void(owner = owner_in<R + 1>(p, coords, extents, column_major, count)) : void()), ...);
    }(std::make_integer_sequence<int, most_dimensions>());
    return static_cast<int>(owner);
  }
  template <int Rank, class Partitioner>
  static index_t owner_in(const Partitioner& p, const index_t* at, const index_t* extents, bool column_major,
                          int count) {
    coords<Rank> c;
    index_range ranges[Rank];
    for (int d = 0; d < Rank; ++d) {
      const int k = column_major ? Rank - 1 - d : d;
      c[d] = at[k];
      ranges[d] = {0, extents[k]};
    }
    const box<Rank> all(ranges);
    return column_major ? p.owner(c, column_box<Rank>(all), count) : p.owner(c, all, count);
  }

  int (*owner_)(const std::byte*, const index_t*, const index_t*, int, bool, int) = nullptr;
  std::array<std::byte, 16> held_{};
};

// Where an instance of logical data lies.
class data_place {
 public:
  // Next to the execution: the memory of the task's device, or for a grid a composite place partitioned in blocks.
  static data_place affine() { return data_place(kind::affine, 0); }
  static data_place device(int pe) { return data_place(kind::device, pe); }
  static data_place host() { return data_place(kind::host, 0); }
  // One instance for the host and all devices, whose pages move to who uses them. Tasks anywhere can name it. On GPUs
  // that cannot use such memory while the host does, who names it gets an unsupported_error.
  static data_place managed() { return data_place(kind::managed, 0); }
  // For data that a task over several devices reads: a copy on each of them, which that one's part of the work gets,
  // and which stays until a task writes the data. For a task on one device, or on the host, as affine.
  static data_place replicated() { return data_place(kind::replicated, 0); }
  // One address range whose pages lie on the devices of `grid`, each on the one that owns most of its elements, as
  // sampled. Partitioner: see
  // starling/stf/partition.hpp.
  template <class Partitioner>
  static data_place composite(const Partitioner& p, const exec_place& grid) {
    return composite_of(any_partitioner(p), grid);
  }
  data_place() = default;

  bool is_affine() const { return kind_ == kind::affine; }
  bool is_host() const { return kind_ == kind::host; }
  bool is_managed() const { return kind_ == kind::managed; }
  bool is_replicated() const { return kind_ == kind::replicated; }
  bool is_composite() const { return kind_ == kind::composite; }
  int pe() const { return pe_; }
  // Of a composite place alone.
  const exec_place& grid() const { return partitioned_->grid; }
  const any_partitioner& partitioner() const { return partitioned_->partitioner; }
  // Throws range_error when it is a device, or has one, that a machine of n_pes devices does not have.
  void check(int n_pes) const;

  // Two composite places are the same when grid and partitioner are.
  friend bool operator==(const data_place& a, const data_place& b);

 private:
  enum class kind { affine, device, host, managed, replicated, composite };
  data_place(kind k, int pe) : kind_(k), pe_(pe) {}
  static data_place composite_of(const any_partitioner& p, const exec_place& grid);

  // Few places are composite, and every instance has a place.
  struct partitioned {
    exec_place grid;
    any_partitioner partitioner;
    friend bool operator==(const partitioned&, const partitioned&) = default;
  };

  kind kind_ = kind::affine;
  int pe_ = 0;
  std::shared_ptr<const partitioned> partitioned_;
};

std::string describe(const data_place& p);

}  // namespace starling::stf
