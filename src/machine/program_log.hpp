// The rings of one program on all PEs, in memory of the host: what virtual devices record into, and where a GPU's rings
// are copied to.
#pragma once

#include <bit>
#include <memory>
#include <vector>

#include "starling/device/trace_record.hpp"

namespace starling {

inline std::uint32_t pair_shift_of(std::uint32_t capacity) {
  return static_cast<std::uint32_t>(std::countr_zero(capacity / clock_pairs));
}

class program_log {
 public:
  program_log(int n_pes, int n_blocks, std::uint32_t capacity);

  int n_pes() const { return n_pes_; }
  int n_blocks() const { return n_blocks_; }
  std::uint32_t capacity() const { return capacity_; }

  trace_rings on(int pe);
  trace_ring& head(int pe, int block) { return heads_[index(pe, block)]; }
  const std::vector<trace_ring>& heads() const { return heads_; }
  // The slots of one ring; the first kept() of them are in use.
  trace_record* slots(int pe, int block) { return records_.get() + index(pe, block) * capacity_; }
  std::uint32_t kept(int pe, int block) const;

 private:
  std::size_t index(int pe, int block) const {
    return static_cast<std::size_t>(pe) * static_cast<std::size_t>(n_blocks_) + static_cast<std::size_t>(block);
  }

  int n_pes_;
  int n_blocks_;
  std::uint32_t capacity_;
  std::vector<trace_ring> heads_;            // by PE, then block
  std::unique_ptr<trace_record[]> records_;  // not touched before it is used
};

}  // namespace starling
