// The control words of one program in symmetric memory: allocation, clearing, and the state each PE's blocks start
// with.
#pragma once

#include "starling/device/program_state.hpp"
#include "symmetric_heap.hpp"

namespace starling {

class program_control {
 public:
  program_control(symmetric_heap& heap, int n_blocks);
  ~program_control();
  program_control(const program_control&) = delete;
  program_control& operator=(const program_control&) = delete;

  // The bytes to clear on every PE before the program starts.
  std::size_t offset() const { return offset_; }
  std::size_t bytes() const { return bytes_; }

  const control_words& words() const { return words_; }

 private:
  symmetric_heap& heap_;
  std::size_t bytes_;
  std::size_t offset_;
  control_words words_;
};

}  // namespace starling
