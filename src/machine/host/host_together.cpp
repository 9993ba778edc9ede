// What processes that share virtual devices do together: they begin and end runs, and hand out memory alike.
#include <algorithm>
#include <bit>

#include "../distributed/process_place.hpp"
#include "host_backend.hpp"
#include "running.hpp"
#include "starling/base/error.hpp"

namespace starling {

std::shared_ptr<backend> make_distributed_backend(const distributed_options& options) {
  return make_distributed_backend(options, place_of(environment_variables()));
}

std::shared_ptr<backend> make_distributed_backend(const distributed_options& options, const process_place& place) {
  const environment e = environment::read();
  expect<unsupported_error>(e.check_seeds == 0,
                            "machine::distributed: STARLING_CHECK is set, and check mode is for one process; make the "
                            "machine with machine::host(n), or unset it");
  expect<unsupported_error>(e.hosts == 1,
                            "machine::distributed: STARLING_HOSTS is set, and several hosts are played by one process; "
                            "make the machine with machine::host(n), or unset it");
  constexpr int most = 256;
  expect<argument_error>(options.pes >= 0 && options.pes <= most / place.size,
                         "machine::distributed: pes = ", options.pes, " in each of ", place.size,
                         " processes; must be at least 1, and at most ", most, " in all, or 0 to choose");
  expect<argument_error>(options.max_blocks >= 0, "machine::distributed: max_blocks = ", options.max_blocks,
                         "; must be at least 1, or 0 for STARLING_HOST_BLOCKS");
  constexpr std::size_t most_memory = std::size_t{1} << 50;
  expect<argument_error>(options.memory_bytes <= most_memory,
                         "machine::distributed: memory_bytes = ", options.memory_bytes,
                         "; must be at most 2^50, or 0 for STARLING_HOST_MEMORY");
  const int each = options.pes > 0 ? options.pes : e.devices > 0 ? pes_of_each(e.devices) : 1;
  host::host_settings s{each * place.size,
                        options.memory_bytes > 0 ? options.memory_bytes : e.host_memory,
                        options.max_blocks > 0 ? options.max_blocks : e.host_blocks,
                        options.poison,
                        e.deadline,
                        {},
                        64};
  const std::string terms =
      message(s.devices, " PEs, each of ", s.memory_bytes, " bytes and ", s.max_blocks, " blocks");
  auto processes =
      std::make_unique<process_group>(place, terms, host::host_backend::shared_bytes(s), e.meeting_deadline);
  return std::make_shared<host::host_backend>(s, std::move(processes));
}

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
  return message(n_pes(), " virtual devices in ", processes(), " processes, this is process ", process(), " of ",
                 processes_->place().source);
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

void host_backend::end_together(run_group& group, const std::vector<std::unique_ptr<running>>& runs,
                                const std::string& problem) {
  part_of_run mine{group.ended.load(), problem};
  for (const auto& r : runs)
    if (mine.problem.empty()) mine.problem = r->thrown();
  // Blocks may compute for as long as they want; when they have been ended, they should come.
  const auto hurried = [&] { return group.ended.load(); };
  const std::vector<std::string> all = processes_->collect(run_call, said(mine), hurried);
  if (std::none_of(all.begin(), all.end(), [](const std::string& s) { return heard(s).ended; })) return;
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
