// stall_error: a wait in a kernel passed its deadline. Says what every block was doing and who waits for whom.
#pragma once

#include <string>
#include <vector>

#include "starling/base/error.hpp"
#include "starling/device/report.hpp"

namespace starling {

// A block by PE and number on it.
struct block_id {
  int pe = 0;
  int block = 0;
  friend bool operator==(const block_id&, const block_id&) = default;
};

// Python: TimeoutError.
class stall_error : public error {
 public:
  // Reports of all blocks of one program; role_names by role number; `injected` in words, see injected().
  stall_error(std::vector<block_report> reports, const std::vector<std::string>& role_names, double deadline_seconds,
              std::vector<std::string> injected = {});

  // One per block, ordered by PE, then block.
  const std::vector<block_report>& reports() const { return reports_; }
  // Blocks that wait for one another in a ring, first one not repeated; empty when no ring was found.
  const std::vector<block_id>& cycle() const { return cycle_; }
  // Faults that machine::inject made happen, a line each: if there are any, they are the cause. See machine/faults.hpp.
  const std::vector<std::string>& injected() const { return injected_; }

 private:
  std::vector<block_report> reports_;
  std::vector<block_id> cycle_;
  std::vector<std::string> injected_;
};

// The edges of the wait-for graph that leave block `from`: the blocks of which one must act before it can go on.
std::vector<block_id> waits_for(const std::vector<block_report>& reports, const block_report& from);

// A ring in the wait-for graph, or nothing.
std::vector<block_id> find_cycle(const std::vector<block_report>& reports);

}  // namespace starling
