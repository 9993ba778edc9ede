// The reports of all blocks of a program, by PE, then block; each is written by its block alone.
#pragma once

#include <vector>

#include "../symmetric_heap.hpp"
#include "starling/device/report.hpp"

namespace starling::host {

class report_board {
 public:
  // In memory of this process; `shared`: in that of the PEs, where other processes read them.
  report_board(int n_pes, int n_blocks, symmetric_heap* shared) : n_pes_(n_pes), n_blocks_(n_blocks), shared_(shared) {
    const auto blocks = static_cast<std::size_t>(n_blocks);
    if (shared_ != nullptr)
      offset_ = shared_->allocate(blocks * sizeof(block_report));
    else
      own_.resize(static_cast<std::size_t>(n_pes) * blocks);
  }
  ~report_board() {
    if (shared_ != nullptr) shared_->free(offset_);
  }
  report_board(const report_board&) = delete;
  report_board& operator=(const report_board&) = delete;

  block_report& at(int pe, int block) {
    if (shared_ == nullptr) return own_[static_cast<std::size_t>(pe * n_blocks_ + block)];
    return reinterpret_cast<block_report*>(shared_->on(offset_, pe))[block];
  }
  // Those of one PE.
  std::size_t bytes() const { return static_cast<std::size_t>(n_blocks_) * sizeof(block_report); }
  std::vector<block_report> of(index_range pes) {
    std::vector<block_report> all;
    for (auto pe = static_cast<int>(pes.begin); pe < pes.end; ++pe)
      for (int b = 0; b < n_blocks_; ++b) all.push_back(at(pe, b));
    return all;
  }

 private:
  int n_pes_;
  int n_blocks_;
  symmetric_heap* shared_;
  std::size_t offset_ = 0;
  std::vector<block_report> own_;
};

}  // namespace starling::host
