#include "running.hpp"

#include "../outcome.hpp"
#include "../run_meeting.hpp"
#include "ports.hpp"
#include "starling/base/error.hpp"

namespace starling::host {

running::running(run_group& group, const program& p, const control_words& control, int n_pes, int n_blocks,
                 double deadline_seconds)
    : group_(group),
      program_(p),
      n_pes_(n_pes),
      n_blocks_(n_blocks),
      deadline_seconds_(deadline_seconds),
      states_(static_cast<std::size_t>(n_pes)),
      reports_(n_pes, n_blocks, group.reports) {
  const role_table roles = p.roles.resolve();
  const symmetric_heap::layout& where = group.heap.where();
  for (int pe = 0; pe < n_pes; ++pe) {
    program_state& s = states_[static_cast<std::size_t>(pe)];
    s.pe = pe;
    s.n_pes = n_pes;
    s.n_blocks = n_blocks;
    s.roles = roles;
    s.control = control;
    s.heap = {where.start, where.stride};
    s.heap_bytes = where.capacity;
    s.scratch_bytes = static_cast<std::uint32_t>(p.options.scratch_bytes);
    if (group.reports == nullptr || (pe >= group.own.begin && pe < group.own.end)) begin_reports(pe, roles);
  }
}

void running::begin_reports(int pe, const role_table& roles) {
  for (int b = 0; b < n_blocks_; ++b) {
    block_report r;
    r.pe = pe;
    r.block = b;
    r.role = roles.role_of(b);
    report_of(pe, b) = r;
  }
}

void running::record_into(program_log& log) {
  for (program_state& s : states_) s.trace = log.on(s.pe);
}

void running::launch_into(running& by) {
  for (int pe = 0; pe < n_pes_; ++pe)
    launched_.push_back(std::make_unique<launch_queue>(group_.lot, n_blocks_, program_.most_pending));
  by.launched_by_ = this;
}

bool running::launch(int pe, const kernel_launch& k) {
  expect<argument_error>(!launched_.empty(), "thread::launch at ", k.at.file, ":", k.at.line,
                         ": the program does not say what it launches; set program::launches, for machine::run");
  return launched_[static_cast<std::size_t>(pe)]->add(k);
}

void running::run_kernel(int pe, int block_index, const kernel_launch& k) {
  const std::unique_ptr<host_port> port = make_port(*this, pe, block_index);
  block b(state(pe), port.get(), block_index);
  b.begin_trace();
  k.run(k.closure.get(), b);
  port->end();
  b.end_trace();
}

void running::run_launched(int pe, int block_index) {
  launch_queue& launches = *launched_by_->launched_[static_cast<std::size_t>(pe)];
  while (const auto k = launches.take([this] { return group_.ended.load(); })) run_kernel(pe, block_index, *k);
}

void running::run_block(int pe, int block_index) {
  struct returned {
    launch_queue* launches;
    ~returned() {
      if (launches != nullptr) launches->launcher_over();
    }
  } at_end{launched_.empty() ? nullptr : launched_[static_cast<std::size_t>(pe)].get()};
  try {
    if (launched_by_ != nullptr)
      run_launched(pe, block_index);
    else
      run_kernel(pe, block_index, {program_.k.on_host, program_.k.closure, program_.k.closure_bytes});
    // A block that computes is not disturbed: it has not returned before the program was ended, and is `running`.
    if (!group_.ended.load()) report_of(pe, block_index).state = block_state::finished;
  } catch (const block_ended&) {
  } catch (...) {
    fail(std::current_exception());
  }
}

void running::fail(std::exception_ptr problem) {
  const std::lock_guard lock(failure_mutex_);
  if (!failure_) failure_ = std::move(problem);
  end_group();
}

void running::end_group() {
  group_.ended.set();
  group_.lot.wake_all();
}

void running::fail(const block_report& r) {
  block_report& mine = report_of(r.pe, r.block);
  const int role = mine.role;
  mine = r;
  mine.role = role;
  if (r.state != block_state::waiting) end_group();
  throw block_ended{};
}

void running::kill(int pe, int block, operation op, where at) {
  const role r = report_of(pe, block).role;
  const std::string place =
      op == operation::none ? "a fence or quiet" : message(name(op), " at ", at.file, ":", at.line);
  fail(std::make_exception_ptr(
      fault_error(message("injected fault: kill_block ended PE ", pe, " block ", block, " (", program_.roles.name(r),
                          ") in ", place, ", and the program with it; machine::inject({}) removes the fault"))));
  throw block_ended{};
}

void running::pause(double seconds) {
  const auto limit = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
  if (group_.lot.wait(group_.ended.word(), limit, [this] { return group_.ended.load(); })) throw block_ended{};
}

void running::rethrow(const std::vector<block_report>& reports) const {
  if (failure_) std::rethrow_exception(failure_);
  throw_first_cause(reports, program_, n_pes_, deadline_seconds_,
                    group_.faults ? group_.faults->notes() : std::vector<std::string>());
}

std::string running::thrown() const { return text_of(failure_); }

}  // namespace starling::host
