// What processes that run programs together tell each other before and after.
#include "../run_meeting.hpp"
#include "running_program.hpp"

namespace starling::on_cuda {

void program_runner::meet_prepared(std::exception_ptr refused) {
  if (processes_ != nullptr) {
    const auto parts = run_meeting(*processes_).end({refused != nullptr, text_of(refused)}, {});
    if (!refused) run_meeting::expect_no_problem(parts);
  }
  if (refused) std::rethrow_exception(refused);
}

void program_runner::meet_ended(std::vector<running>& all, const std::exception_ptr& refused) {
  bool ended = refused != nullptr || failure_ != cudaSuccess;
  for (running& r : all) ended = ended || r.failed;
  const auto own = [](const running& r) { return r.on->read_reports(r.roles, r.ended); };
  if (processes_ == nullptr) {
    for (running& r : all)
      if (r.failed) r.reports = own(r);
    return;
  }
  await_ends_sent();  // no late one comes to words that the others have cleared again
  std::string problem = text_of(refused);
  if (problem.empty() && failure_ != cudaSuccess) problem = describe(failure_);
  const auto parts = run_meeting(*processes_).end({ended, problem}, [ended] { return ended; });
  if (!run_meeting::any_ended(parts)) return;
  for (running& r : all) r.reports = processes_->collect_all("machine::run", own(r));
  if (problem.empty()) run_meeting::expect_no_problem(parts);
}

}  // namespace starling::on_cuda
