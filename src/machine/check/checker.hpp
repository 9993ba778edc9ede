// Explores schedules: runs programs from the same memory again and again, each time under another seed.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "../local_heap.hpp"
#include "../program_control.hpp"
#include "../symmetric_heap.hpp"
#include "block_threads.hpp"
#include "host_range.hpp"
#include "schedule.hpp"
#include "scheduled_port.hpp"
#include "starling/device/program_state.hpp"
#include "starling/machine/machine.hpp"

namespace starling::check {

// A program and the control words of its own.
struct checked_program {
  const program* what;
  control_words control;
  int launched_by = -1;  // number of the program whose blocks launch it; its own blocks begin by that alone
};

class checker {
 public:
  // Of one arena that holds, for each PE, the users' memory and behind it that of control words, behind all of them
  // local memory, and behind that scratch_area::all_bytes.
  // `cards`: between hosts; null when all PEs are on one.
  checker(symmetric_heap& heap, symmetric_heap& control, const local_heap& local, const check_options& options,
          std::string report_path, std::unique_ptr<card_setting> cards);
  ~checker();

  // Explores the options' seeds, all from the memory as it is; at last runs seed 0, whose results stay. Throws
  // check_error, with memory as it was, or what a kernel threw.
  void run(const std::vector<checked_program>& programs);

  // The same for the work that streams have been given: each runs its operations in order, and what orders streams is
  // events alone. `most_blocks`: of any launch among them. `resident`: there may be launches whose blocks meet.
  struct stream_work {
    int pe;
    std::vector<std::function<void()>> operations;
    host_ranges touched;  // by its copies
  };
  void run_streams(const std::vector<stream_work>& streams, int most_blocks, bool resident);

  // Runs a plain launch in the stream that is running.
  void launch(int pe, int blocks, const program& p);

  // The host copies memory of a PE to its own: throws check_error if part of it has no value.
  void host_reads(const std::byte* source, std::size_t bytes, where at) const;

  memory_names& names() { return names_; }

  void set_options(const check_options& options) { options_ = options; }
  const check_summary& summary() const { return summary_; }

 private:
  class memory_image;

  workload new_workload() const;
  scheduled_block& add_block(workload& w, scheduled_block::kind what, int pe, int block) const;
  void explore(workload& w, const host_ranges& touched = {});
  void one(schedule& s, workload& w, std::uint64_t seed, const memory_image& before);
  [[noreturn]] void throw_found(const workload& w, std::uint64_t seed, finding f) const;
  void add_to_report(const check_summary& c, const check_error* found) const;
  void open_memory();
  void note_kernel(const kernel& k) { now_.accesses_seen = now_.accesses_seen && k.accesses_seen; }
  void run_block(scheduled_block& a, const program& p, const program_state& s, int index);
  void run_kernel(scheduled_block& a, const program& p, const program_state& s, int index, const kernel_launch& k);
  program_state state_of(const program& p, int pe) const;

  symmetric_heap& heap_;
  symmetric_heap& control_;
  const local_heap& local_;
  check_options options_;
  std::string report_path_;
  std::unique_ptr<card_setting> cards_;
  memory_names names_;
  std::mutex mutex_;  // one exploration at a time
  shadow shadow_;
  scratch_area scratch_;
  access_marks marks_;
  std::vector<std::unique_ptr<fiber_slot>> slots_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  thread_fibers thread_fibers_;
  schedule* schedule_ = nullptr;                                 // that is being explored
  std::vector<std::unique_ptr<program_control>> meeting_words_;  // by stream, while there may be resident launches
  check_summary now_;                                            // of the exploration under way
  check_summary summary_;                                        // of those before
};

}  // namespace starling::check
