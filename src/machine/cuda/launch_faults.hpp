// What goes wrong in plain launches, between the kernel that reports it and the host that asks: abort words, and a few
// report slots per PE, which the blocks of a launch share. Every stream and every graph has a set of its own, so that
// synchronize() tells each of its own faults only.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "../program_control.hpp"
#include "parts.hpp"

namespace starling::on_cuda {

class launch_faults {
 public:
  static constexpr std::uint32_t slots = 64;  // per PE

  explicit launch_faults(const parts& machine);

  // Points the state of a launch here.
  void attach(program_state& state, const launch_options& options, double deadline);

  // The words by which blocks of a resident launch meet; of a stream, whose launches come one after the other.
  sym<signal> arrived() const { return control_.words().arrived; }

  // The launches must have ended. Throws the first cause that one of them reported, and forgets all.
  void throw_first();

  bool any() const;
  void clear();

 private:
  const parts& machine_;
  program_control control_;
  pinned_array<block_report> reports_;
  launch_options options_;  // of the newest launch, for the text of errors
  double deadline_ = 0;
};

// Sets of faults, kept for reuse: pinned memory is slow to get.
class fault_pool {
 public:
  explicit fault_pool(const parts& machine) : machine_(machine) {}

  // Comes back by itself. The pool must live longer.
  std::shared_ptr<launch_faults> take();

 private:
  void put_back(std::unique_ptr<launch_faults> faults) noexcept;

  const parts& machine_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<launch_faults>> idle_;
};

}  // namespace starling::on_cuda
