// The rings of one program on all GPUs, in their own memory: a block records without leaving its GPU. Kept between
// runs.
#pragma once

#include "../program_log.hpp"
#include "parts.hpp"

namespace starling::on_cuda {

class ring_memory {
 public:
  explicit ring_memory(const parts& machine) : machine_(machine), rings_(machine.gpus.size()) {}

  // Empty rings for so many blocks on each PE; no program uses them here. Throws memory_error.
  void prepare(int blocks, std::uint32_t capacity);

  trace_rings on(int pe) const { return rings_[static_cast<std::size_t>(pe)].handle; }

  // What the blocks have recorded; the program has ended.
  void collect(program_log& log) const;

 private:
  struct rings {
    unique_memory heads;
    unique_memory records;
    trace_rings handle;
  };
  const parts& machine_;
  int blocks_ = 0;  // per PE
  std::uint32_t capacity_ = 0;
  std::vector<rings> rings_;  // by PE
};

}  // namespace starling::on_cuda
