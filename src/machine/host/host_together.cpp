// What processes that share virtual devices do together: they begin and end runs, and hand out memory alike.
#include <algorithm>
#include <bit>
#include <cstring>

#include "far_memory.hpp"
#include "host_backend.hpp"
#include "running.hpp"
#include "starling/base/error.hpp"

namespace starling {

namespace host {
namespace {

constexpr const char* run_call = "machine::run";
constexpr const char* allocate_call = "machine::allocate";

// How a process's part of a run has ended, as it tells the others.
struct part_of_run {
  bool ended;           // its blocks, or others', have ended the programs
  std::string problem;  // beyond what the blocks report; empty: none
};

std::string said(const part_of_run& p) { return (p.ended ? "1" : "0") + p.problem; }
part_of_run heard(const std::string& text) { return {text[0] == '1', text.substr(1)}; }

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

void host_backend::meet(const char* call) {
  if (processes_) processes_->meet(call);
}

double host_backend::agree(double mine) {
  if (!processes_) return mine;
  return std::bit_cast<double>(
      processes_->collect("machine::agree", word_list{std::bit_cast<std::uint64_t>(mine)})[0][0]);
}

void host_backend::free(std::size_t offset) noexcept {
  if (processes_)
    releases_.add(offset);
  else
    heap_.free(offset);
}

std::size_t host_backend::agree_to_allocate(std::size_t bytes) {
  word_list mine = {bytes, local_.most_in_use()};
  const std::vector<std::uint64_t> freed = releases_.take(process_group::most_bytes / sizeof(std::uint64_t) - 8);
  mine.insert(mine.end(), freed.begin(), freed.end());
  const std::vector<word_list> all = processes_->collect(allocate_call, mine);
  for (const word_list& w : all)
    for (std::size_t i = 2; i < w.size(); ++i)
      if (releases_.note(w[i], processes())) heap_.free(w[i]);
  std::size_t local = 0;
  for (std::size_t r = 0; r < all.size(); ++r) {
    expect<argument_error>(all[r][0] == all[0][0], allocate_call, ": process ", r, " asks for ", all[r][0],
                           " bytes and process 0 for ", all[0][0],
                           "; a collective call is made alike by all processes");
    local = std::max<std::size_t>(local, all[r][1]);
  }
  return local;
}

void host_backend::begin_together(const std::vector<program>& programs) {
  word_list what = {programs.size()};
  for (const program& p : programs) what.push_back(static_cast<std::uint64_t>(p.roles.blocks()));
  processes_->expect_same(run_call, what, "their programs, or a program's blocks");
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
  const auto hurried = [&] { return group.ended.load(); };
  const std::vector<std::string> all = processes_->collect(run_call, said(mine), hurried);
  if (std::none_of(all.begin(), all.end(), [](const std::string& s) { return heard(s).ended; })) return;
  fetch_reports(runs);
  std::vector<std::vector<block_report>> reports;
  for (const auto& r : runs) reports.push_back(r->reports());
  processes_->meet(run_call);  // now all have read them
  expect<device_error>(problem.empty(), "machine::run: ", problem);
  for (const auto& r : runs)
    if (!r->thrown().empty()) r->rethrow({});
  for (std::size_t p = 0; p < all.size(); ++p)
    if (const std::string theirs = heard(all[p]).problem; !theirs.empty())
      throw process_error(message("machine::run: process ", p, " of ", all.size(), " has ended the program: ", theirs));
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i]->rethrow(reports[i]);
}

}  // namespace host
}  // namespace starling
