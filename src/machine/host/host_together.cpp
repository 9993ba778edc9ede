// What processes that share virtual devices do together: they begin and end runs, and hand out memory alike.
#include <algorithm>
#include <bit>
#include <cstring>

#include "../far_memory.hpp"
#include "../run_meeting.hpp"
#include "host_backend.hpp"
#include "running.hpp"
#include "starling/base/error.hpp"

namespace starling {

namespace host {
namespace {

constexpr const char* run_call = "machine::run";

}  // namespace

std::string host_backend::remark() const {
  if (!processes_) return {};
  const std::string where = hosts_.one_host() ? "" : message(" on ", hosts_.n_hosts(), " hosts, by ", transport());
  return message(n_pes(), " virtual devices in ", processes(), " processes", where, ", this is process ", process(),
                 " of ", processes_->place().source);
}

std::string host_backend::transport() const { return far_ != nullptr ? far_->carrier() : "direct"; }

std::vector<std::uint64_t> host_backend::sent_bytes() const {
  return far_ != nullptr ? far_->sent_bytes() : std::vector<std::uint64_t>();
}

std::vector<pair_traffic> host_backend::traffic() const { return traffic_.all(far_ != nullptr ? transport() : "card"); }

void host_backend::meet(const char* call) {
  if (processes_) processes_->meet(call);
}

double host_backend::agree(double mine) {
  if (!processes_) return mine;
  return std::bit_cast<double>(
      processes_->collect("machine::agree", word_list{std::bit_cast<std::uint64_t>(mine)})[0][0]);
}

void host_backend::free(std::size_t offset) noexcept {
  if (agreed_)
    agreed_->free(offset);
  else
    heap_.free(offset);
}

void host_backend::fetch_reports(const std::vector<std::unique_ptr<running>>& runs) {
  if (far_ == nullptr) return;
  for (const auto& r : runs)
    for (int pe = 0; pe < n_pes(); ++pe) {
      report_board& board = r->board();
      auto* here = reinterpret_cast<std::byte*>(&board.at(pe, 0));
      if (!far_->holds(here)) continue;
      std::vector<std::byte> theirs(board.bytes());
      far_->read({theirs.data(), theirs.size(), here, theirs.size(), theirs.size(), 1});
      std::memcpy(here, theirs.data(), theirs.size());
    }
}

void host_backend::end_together(run_group& group, const std::vector<std::unique_ptr<running>>& runs,
                                const std::string& problem) {
  part_of_run mine{group.ended.load(), problem};
  for (const auto& r : runs)
    if (mine.problem.empty()) mine.problem = r->thrown();
  // Blocks may compute for as long as they want; when they have been ended, they should come.
  const std::vector<part_of_run> all = run_meeting(*processes_).end(mine, [&] { return group.ended.load(); });
  if (!run_meeting::any_ended(all)) return;
  fetch_reports(runs);
  std::vector<std::vector<block_report>> reports;
  for (const auto& r : runs) reports.push_back(r->reports());
  processes_->meet(run_call);  // now all have read them
  expect<device_error>(problem.empty(), "machine::run: ", problem);
  for (const auto& r : runs)
    if (!r->thrown().empty()) r->rethrow({});
  run_meeting::expect_no_problem(all);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i]->rethrow(reports[i]);
}

}  // namespace host
}  // namespace starling
