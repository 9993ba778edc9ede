// Where tasks run and where their data lies: a device, the host, or a grid of devices. Places are small values and know
// no machine; a context checks them against its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "starling/base/index.hpp"

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
  // The context chooses: where the task is expected to end first, from measured times of earlier tasks of its name.
  static exec_place automatic() { return exec_place(kind::automatic, 0); }
  // What a task gets that names no place: device 0.
  exec_place() = default;

  bool is_host() const { return kind_ == kind::host; }
  bool is_automatic() const { return kind_ == kind::automatic; }
  // Whether it was made by all_devices or grid.
  bool is_grid() const { return kind_ == kind::all || kind_ == kind::grid; }
  // The devices of this place on a machine of n_pes devices; empty for the host. Throws range_error for one that the
  // machine does not have.
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

// Which of `count` owners an element has: coordinates and extents of `rank` dimensions, the slowest first.
using element_owner = int (*)(const index_t* coords, const index_t* extents, int rank, int count);

// Where an instance of logical data lies.
class data_place {
 public:
  // Next to the execution: the memory of the task's device, or for a grid a composite place dealt in blocks.
  static data_place affine() { return data_place(kind::affine, 0); }
  static data_place device(int pe) { return data_place(kind::device, pe); }
  static data_place host() { return data_place(kind::host, 0); }
  // One address range whose pages lie on the devices of `grid`, each on the one that owns most of its elements, as
  // sampled. Partitioner: a type of starling/stf/partition.hpp.
  template <class Partitioner>
  static data_place composite(const Partitioner&, const exec_place& grid) {
    return composite_of(&Partitioner::owner_of, grid);
  }
  static data_place composite_of(element_owner owner, const exec_place& grid);
  data_place() = default;

  bool is_affine() const { return kind_ == kind::affine; }
  bool is_host() const { return kind_ == kind::host; }
  bool is_composite() const { return kind_ == kind::composite; }
  int pe() const { return pe_; }
  const exec_place& grid() const { return grid_; }
  element_owner owner() const { return owner_; }

  // Two composite places are the same when grid and partitioner are.
  friend bool operator==(const data_place& a, const data_place& b);

 private:
  enum class kind { affine, device, host, composite };
  data_place(kind k, int pe) : kind_(k), pe_(pe) {}

  kind kind_ = kind::affine;
  int pe_ = 0;
  exec_place grid_;
  element_owner owner_ = nullptr;
};

std::string describe(const data_place& p);

}  // namespace starling::stf
