#include "launch_faults.hpp"

#include "../outcome.hpp"
#include "device_guard.hpp"

namespace starling::on_cuda {

launch_faults::launch_faults(const parts& machine)
    : machine_(machine),
      control_(machine.launches, 1),
      reports_(machine.gpus.size() * slots, machine.driven().front().id) {
  clear();
}

void launch_faults::attach(program_state& state, const launch_options& options, double deadline) {
  // No word but abort: a barrier in a plain launch finds no control.arrived, and is reported.
  state.control.abort = control_.words().abort;
  state.reports = reports_.data() + static_cast<std::uint32_t>(state.pe) * slots;
  state.report_slots = slots;
  options_ = options;
  deadline_ = deadline;
}

bool launch_faults::any() const {
  for (std::size_t i = 0; i < reports_.size(); ++i)
    if (reports_[i].state != block_state::running) return true;
  return false;
}

void launch_faults::clear() {
  reports_.clear();
  device_guard guard;
  for (const gpu& g : machine_.driven()) {
    guard.use(g.id);
    check(cudaMemsetAsync(machine_.launches.on(control_.offset(), g.pe), 0, control_.bytes(), g.service.get()),
          "cudaMemsetAsync (abort words)", g.pe);
  }
  for (const gpu& g : machine_.driven()) {
    guard.use(g.id);
    check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize", g.pe);
  }
}

void launch_faults::throw_first() {
  if (!any()) return;
  std::vector<block_report> found;
  for (std::size_t i = 0; i < reports_.size(); ++i)
    if (reports_[i].state != block_state::running) found.push_back(reports_[i]);
  clear();
  program p;
  p.roles.add("all", 1);
  p.options = options_;
  throw_first_cause(found, p, machine_.n_pes(), deadline_);
  // Another block's report has taken the slot of the first cause; what is left still says what did not come.
  throw stall_error(found, {"all"}, deadline_);
}

std::shared_ptr<launch_faults> fault_pool::take() {
  std::unique_ptr<launch_faults> faults;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      faults = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!faults) faults = std::make_unique<launch_faults>(machine_);
  return {faults.release(), [this](launch_faults* f) { put_back(std::unique_ptr<launch_faults>(f)); }};
}

void fault_pool::put_back(std::unique_ptr<launch_faults> faults) noexcept {
  try {
    if (faults->any()) faults->clear();
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(faults));
  } catch (...) {  // it could not be cleared, and is freed instead
  }
}

}  // namespace starling::on_cuda
