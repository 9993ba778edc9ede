// Check mode: programs on virtual devices run under seeded schedules, one block at a time, with puts that arrive as
// late and as disordered as the contract allows. What a schedule finds wrong is a check_error that names the seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "starling/base/error.hpp"
#include "starling/device/report.hpp"
#include "starling/machine/simulation.hpp"

namespace starling {

struct check_options {
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 100;  // schedules that each run explores; 1: the first seed alone, which replays it
  // Of a block, in kernels whose loads and stores are seen; others have one. 0: the seed chooses 1, 2, 3, 5 or 6, or,
  // one seed in 32, 32. They are in warps of 32 where that is a divisor, and else of a divisor that the seed chooses.
  int threads = 0;
  // Given: each run is one schedule, in the order of time that these say, and no seeds are drawn. PEs of several hosts
  // are told apart by pes_per_host alone; their queue pairs are costs, and not played.
  std::optional<simulation_costs> clock = {};
};

// What check mode finds.
enum class defect : std::int32_t {
  deadlock,         // blocks wait for one another in a ring
  lost_signal,      // a block waits and nothing that could end the wait is left
  unordered_read,   // read of data that no signal or barrier orders after its write
  unordered_write,  // write that nothing orders after another write or read of the same bytes
  within_block,     // threads of a block touch the same bytes, one of them writes, and no barrier is between
  loop_elements,    // elements of one parallel_for touch the same bytes, and one of them writes
  source_reused,    // source (of a get: destination) touched before quiet()
  signal_back,      // a signal was set to less than it held
  two_writers,      // blocks set one signal, and nothing orders them
  collective,       // blocks of a program differ in the order or the arguments of their barriers and reductions
  out_of_bounds,    // access outside of every allocation
  foreign_access,   // plain load or store to the memory of another PE
  uninitialised,    // read of memory that nothing has written
  undeclared,       // a task touches data that it did not name, or writes what it named for reading
  endless,          // a schedule without an end
  network,          // a queue pair used against the rules that its card relies on: a mistake of the runtime
};

const char* name(defect d);

// What was explored, since check mode was turned on.
struct check_summary {
  std::uint64_t programs = 0;    // runs and batches of stream work
  std::uint64_t schedules = 0;   // of all of them
  std::uint64_t calls = 0;       // of blocks
  std::uint64_t deliveries = 0;  // pieces of puts and gets, and signals
  double seconds = 0;
  // Whether loads and stores of all kernels were seen; if not, only calls were checked. See starling_check in CMake.
  bool accesses_seen = true;
  int threads_seen = 0;  // of a block, at most
  // Bytes to which several threads of a block, or elements of a loop, have written the same, unordered.
  std::uint64_t written_alike = 0;
  double simulated_ns = 0;  // what all of it took by the clock; 0 without one
};

// A block and the calls that it made last, newest last.
struct block_history {
  int pe = 0;
  int block = 0;
  std::string role;
  std::vector<std::string> calls;
};

// Python: CheckError.
class check_error : public error {
 public:
  check_error(defect what, std::uint64_t seed, const std::string& text, std::vector<block_history> blocks,
              int threads = 1);

  defect what_kind() const { return kind_; }
  std::uint64_t seed() const { return seed_; }
  int threads() const { return threads_; }  // of a block, in that schedule
  // The blocks concerned.
  const std::vector<block_history>& blocks() const { return blocks_; }

 private:
  defect kind_;
  std::uint64_t seed_;
  int threads_;
  std::vector<block_history> blocks_;
};

}  // namespace starling
