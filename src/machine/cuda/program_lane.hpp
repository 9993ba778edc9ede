// What one program of a run needs on every PE: a stream, control words, report slots. Kept between runs, so that a run
// allocates nothing, and cleared ahead of the next run, so that a run does not wait for that either.
#pragma once

#include <memory>
#include <vector>

#include "../program_control.hpp"
#include "parts.hpp"
#include "ring_memory.hpp"

namespace starling::on_cuda {

class program_lane {
 public:
  explicit program_lane(const parts& machine) : machine_(machine), rings_(machine) {}

  // Makes room for this many blocks per PE. No program is under way here.
  void prepare(int blocks);

  // Orders the clearing of the control words on the streams, once the program has ended on all PEs.
  void clear_control();
  // Returns when the words are clear on all PEs: before that no block may start, for it may signal another PE at once.
  void await_cleared();
  // Something has been launched: the words are in use.
  void mark_used() { cleared_ = false; }

  // For runs that are traced.
  ring_memory& rings() { return rings_; }

  cudaStream_t stream(int pe) const { return streams_[static_cast<std::size_t>(pe)].get(); }
  const control_words& words() const { return control_->words(); }

  // The slots of one PE, one per block. All zero, which is block_state::running, where no block has reported.
  block_report* reports(int pe) const { return reports_.data() + static_cast<std::ptrdiff_t>(pe) * capacity_; }
  // Whether one of the first `blocks` blocks of any PE has reported; also while the program runs.
  bool reported(int blocks) const;
  // Reports of all blocks of this process's PEs, by PE and block. Blocks report only when something goes wrong: one
  // that did not has returned from the kernel where the kernel of its PE has ended, and may still run where not.
  std::vector<block_report> read_reports(const role_table& roles, const std::vector<bool>& ended) const;
  // The slots are zero again. The program has ended.
  void clear_reports() { reports_.clear(); }

 private:
  const parts& machine_;
  int capacity_ = 0;  // blocks per PE
  std::unique_ptr<program_control> control_;
  pinned_array<block_report> reports_;  // [PE][capacity]
  std::vector<unique_stream> streams_;  // by PE
  ring_memory rings_;
  bool cleared_ = false;  // or will be by the work on the streams
};

}  // namespace starling::on_cuda
