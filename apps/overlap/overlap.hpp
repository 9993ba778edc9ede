// PROACT's microbenchmark (sections II and V, figures 2 and 6): every PE computes its part of a vector, with as much
// arithmetic for each element as is asked for, while what is ready goes to the other PEs, or to the host. Beside it
// what it is held against: the copies alone, and how fast stores of a size get there.
//
//   overlap::microbenchmark b(m, {.elements = 1 << 26, .to = overlap::destination::host});
//   const double copies = b.copy_seconds();
//   const double both = b.run(work).seconds;
#pragma once

#include "starling/region/region.hpp"

namespace starling::overlap {

enum class destination {
  peers,  // the copies of all other PEs
  host    // one PE's part, the whole, to pinned memory of the host
};

struct run_options {
  index_t elements = 0;  // of 4 bytes
  destination to = destination::peers;
  region_agent agent = region_agent::polling;
  std::size_t chunk_bytes = 64 * 1024;
  std::size_t tile_bytes = 4096;  // that a block writes at a time
  int agent_blocks = 0;           // 0: chosen by the region
  int threads = 256;              // of a block, on GPUs
  double deadline = 0;
  region_sending sending = region_sending::all;
  paced links = {};
  bool verify = false;
  bool timed = false;
};

struct run_result {
  double seconds = 0;
  int blocks = 0;  // of each PE, that compute
};

class microbenchmark {
 public:
  // Throws argument_error for the host as destination of more than one PE, and as region does.
  microbenchmark(const machine& m, const run_options& options);

  // Writes the next epoch, with `work` steps for each element; everything has arrived when it returns.
  run_result run(int work);
  // Whether all destinations have what the last run was to compute; they lack it with another `sending` than all. Of
  // much work some elements of every chunk are looked at.
  bool right() const;
  region_report report() const { return values_.report(); }

  // What the machine takes to copy what a run sends, when it has been computed: all links at once.
  double copy_seconds();

 private:
  machine machine_;
  run_options options_;
  region<std::uint32_t> values_;
  std::uint64_t epoch_ = 0;
  int work_ = 0;
};

// Seconds that a kernel of PE 0 takes to store so many elements of 4 bytes in runs of `run` elements, which lie apart,
// to the host or to the memory of PE 1. Throws argument_error unless both are powers of two, device_error when another
// value is there afterwards.
double store_seconds(machine& m, destination to, index_t elements, index_t run);

}  // namespace starling::overlap
