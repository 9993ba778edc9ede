// Runs persistent programs: launches them on every PE, waits, and turns the blocks' reports into the outcome.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "parts.hpp"
#include "program_lane.hpp"
#include "starling/machine/machine.hpp"

namespace starling::on_cuda {

class program_runner {
 public:
  program_runner(const parts& machine, double default_deadline);

  // See backend::run. One run at a time: the blocks of two would not be known to fit together.
  void run(const std::vector<program>& programs);

 private:
  struct running;  // a program under way

  std::vector<running> prepare(const std::vector<program>& programs);
  void start(std::vector<running>& all);
  void wait(std::vector<running>& all);
  void look(running& r, std::vector<running>& all);
  void end(const running& r);
  void await_ends_sent();
  void throw_outcome(std::vector<running>& all) const;

  const parts& machine_;
  double default_deadline_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<program_lane>> lanes_;
  pinned_array<std::uint64_t> one_;  // source of the abort word when the host ends a program
  bool ends_sent_ = false;

  // The first failure of CUDA itself in this run.
  cudaError_t failure_ = cudaSuccess;
  int failed_pe_ = no_pe;
};

}  // namespace starling::on_cuda
