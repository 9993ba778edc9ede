// Runs persistent programs: launches them on every PE, waits, and turns the blocks' reports into the outcome. Nothing
// ends a block that loops without waiting: a program that has been ended and still runs a while later is left alone,
// its outcome is told, and the machine refuses work until the program's kernels have ended.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "clock_aligner.hpp"
#include "copy_streams.hpp"
#include "gpu_cards.hpp"
#include "parts.hpp"
#include "program_lane.hpp"
#include "starling/machine/machine.hpp"

namespace starling::on_cuda {

class program_runner {
 public:
  // `processes`: that run programs together, each on its own PEs; null: this one is alone. `ended`: the word of
  // end_flag that those of other hosts raise too.
  program_runner(const parts& machine, const driver_api& driver, double default_deadline, process_group* processes,
                 std::atomic<std::uint64_t>& ended);
  ~program_runner();

  // See backend::run. Of several processes it is collective. One run at a time: the blocks of two would not be known to
  // fit together. With a tracer the blocks record, also when the run fails. `cards`: of a machine of several hosts;
  // they run beside the programs.
  void run(const std::vector<program>& programs, recorder* tracer, gpu_cards* cards = nullptr);

  // From another thread: a process is lost, so what runs ends.
  void lose_process() noexcept { lost_ = true; }

  // Throws device_error, which names `call`, while a program that was left alone still runs.
  void require_idle(const char* call);
  // Whether no program that was left alone still runs; waits a while for that. Errors of CUDA count as the end.
  bool becomes_idle() noexcept;

 private:
  struct running;  // a program under way

  // `refused`: why it cannot be; it is then told to the other processes, and thrown.
  run_times run_all(const std::vector<program>& programs, recorder* tracer, const clock_alignment& clocks,
                    gpu_cards* cards = nullptr, std::exception_ptr refused = nullptr);
  clock_alignment align_clocks();
  std::vector<running> prepare(const std::vector<program>& programs, const recorder* tracer, const gpu_cards* cards);
  // All processes are prepared, or all throw.
  void meet_prepared(std::exception_ptr refused);
  // All blocks of all processes have returned; what other processes report comes to the programs.
  void meet_ended(std::vector<running>& all, const std::exception_ptr& refused);
  void make_room_for_launches(const std::vector<program>& programs);
  void start(std::vector<running>& all, const gpu_cards* cards);
  void end_cards(const std::vector<running>& all);
  bool wait(std::vector<running>& all, std::exception_ptr& refused);
  static void stop(gpu_cards& cards, std::exception_ptr& refused);
  void look(running& r, std::vector<running>& all);
  void put_copies(std::vector<running>& all, std::exception_ptr& refused);
  void finish_copies(std::exception_ptr& refused);
  void end(const running& r);
  void await_ends_sent();
  static void record(std::vector<running>& all, recorder& tracer, int n_pes, const run_times& ran,
                     const clock_alignment& clocks);
  void leave_alone(const std::vector<running>& all);
  void expect_idle(const char* call);
  // A PE that still runs a program that was left alone, or no_pe; then nothing of it is left.
  int settle();
  void throw_outcome(const std::vector<running>& all) const;

  const parts& machine_;
  double default_deadline_;
  process_group* processes_;
  std::atomic<bool> lost_{false};
  std::atomic<std::uint64_t>& ended_;
  std::uint64_t runs_ = 0;  // of all processes together
  std::mutex mutex_;
  std::vector<std::unique_ptr<program_lane>> lanes_;
  copy_streams copies_;
  std::unique_ptr<clock_aligner> aligner_;  // from the first traced run on
  pinned_array<std::uint64_t> one_;         // source of the abort word when the host ends a program
  bool ends_sent_ = false;

  std::vector<running> left_;      // programs that were left alone
  std::atomic<bool> busy_{false};  // there are some

  // The first failure of CUDA itself in this run.
  cudaError_t failure_ = cudaSuccess;
  int failed_pe_ = no_pe;
};

}  // namespace starling::on_cuda
