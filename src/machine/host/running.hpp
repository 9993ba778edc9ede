// A program while it runs on virtual devices: what its blocks share, and how the first failure ends them all.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "../end_flag.hpp"
#include "../local_heap.hpp"
#include "../program_log.hpp"
#include "../symmetric_heap.hpp"
#include "../traffic_table.hpp"
#include "fault_session.hpp"
#include "launch_queue.hpp"
#include "parking.hpp"
#include "report_board.hpp"
#include "starling/machine/machine.hpp"

namespace starling::host {

class cards;

// Unwinds a kernel after its block has reported. Not a std::exception: kernels that catch those do not swallow it.
struct block_ended {};

// Programs that run together end together.
struct run_group {
  symmetric_heap& heap;     // the users'
  symmetric_heap& control;  // of control words
  const local_heap& local;
  parking& lot;
  traffic_table& traffic;
  end_flag ended{};
  std::shared_ptr<fault_session> faults{};  // null: none are injected
  std::shared_ptr<cards> network{};         // null: all PEs are on one host
  // Of several processes: where reports lie that the others read, and the PEs of this one.
  symmetric_heap* reports{};
  index_range own{};
};

class running {
 public:
  running(run_group& group, const program& p, const control_words& control, int n_pes, int n_blocks,
          double deadline_seconds);

  // The blocks record into it, which must live longer.
  void record_into(program_log& log);

  // The blocks launch kernels, which those of `by` run instead of their own.
  void launch_into(running& by);

  // Runs one block of the kernel on the calling thread; never throws.
  void run_block(int pe, int block);

  // Called by ports: keeps the report and, if it is a first cause, ends the group; then throws block_ended.
  [[noreturn]] void fail(const block_report& r);

  // Called by ports: see host_port::launch.
  bool launch(int pe, const kernel_launch& k);

  // Called by ports that inject faults: ends the group with a fault_error; then throws block_ended.
  [[noreturn]] void kill(int pe, int block, operation op, where at);
  // Sleeps. Throws block_ended, the block's report being `running`, when the program is ended meanwhile.
  void pause(double seconds);

  // After all blocks have returned: throws the first cause, if there was one. A plain launch has blocks on one PE only.
  void rethrow() { rethrow({0, n_pes_}); }
  void rethrow(index_range pes) { rethrow(reports_.of(pes)); }
  void rethrow(const std::vector<block_report>& reports) const;
  report_board& board() { return reports_; }
  std::vector<block_report> reports() { return reports_.of({0, n_pes_}); }
  // What a kernel of this process threw, in words; empty: nothing.
  std::string thrown() const;

  run_group& group() { return group_; }
  double deadline_seconds() const { return deadline_seconds_; }
  const program_state& state(int pe) const { return states_[static_cast<std::size_t>(pe)]; }
  std::size_t scratch_bytes() const { return program_.options.scratch_bytes; }

 private:
  void fail(std::exception_ptr problem);
  void end_group();
  block_report& report_of(int pe, int block) { return reports_.at(pe, block); }
  void run_kernel(int pe, int block, const kernel_launch& k);
  void run_launched(int pe, int block);
  void begin_reports(int pe, const role_table& roles);

  run_group& group_;
  const program& program_;
  int n_pes_;
  int n_blocks_;
  double deadline_seconds_;
  std::vector<program_state> states_;  // by PE
  report_board reports_;
  std::vector<std::unique_ptr<launch_queue>> launched_;  // by PE; empty: nothing may be launched
  running* launched_by_ = nullptr;                       // whose launches the blocks run
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // the first exception that a kernel threw
};

}  // namespace starling::host
