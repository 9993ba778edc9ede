#include "file_exchange.hpp"

#include <algorithm>
#include <functional>

namespace starling {
namespace {

using clock = std::chrono::steady_clock;

}  // namespace

file_exchange::file_exchange(process_group& processes, double deadline)
    : processes_(processes), deadline_(deadline), listener_(local_socket::listen(name_of(processes.rank()))) {
  expect<process_error>(listener_.is_open(), "machine::distributed: the name \"", name_of(processes.rank()),
                        "\" is taken; start the job again");
  processes_.meet("machine::distributed");  // all listen
}

std::string file_exchange::name_of(int rank) const {
  return message("starling-files-", std::hex, std::hash<std::string>()(processes_.name()), std::dec, "-", rank);
}

void file_exchange::give(int rank, const file& mine) const {
  const std::int32_t from = processes_.rank();
  const file line = local_socket::connect(name_of(rank));
  // What has been sent stays for the other process when this end is closed.
  if (!line.is_open() || !local_socket::send(line, &from, sizeof from, {mine.number()}))
    throw process_error(message("machine::distributed: process ", rank, " of ", processes_.size(),
                                " takes no files; see what became of it, and start the job again"));
}

void file_exchange::take(std::vector<file>& all, local_socket::time_point limit) const {
  const file line = local_socket::accept(listener_);
  std::int32_t from = -1;
  std::vector<file> files;
  // Who has connected may have been stopped before it sent anything.
  if (!line.is_open() || !local_socket::wait({line.number()}, limit).front()) return;
  if (!local_socket::receive(line, &from, sizeof from, &files)) return;
  if (from < 0 || from >= processes_.size() || from == processes_.rank() || files.size() != 1) return;
  all[static_cast<std::size_t>(from)] = std::move(files.front());
}

std::vector<file> file_exchange::exchange(const char* call, const file& mine) {
  for (int rank = 0; rank < processes_.size(); ++rank)
    if (rank != processes_.rank()) give(rank, mine);
  std::vector<file> all(static_cast<std::size_t>(processes_.size()));
  const auto limit =
      clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(deadline_));
  const auto missing = [&] {
    for (int rank = 0; rank < processes_.size(); ++rank)
      if (rank != processes_.rank() && !all[static_cast<std::size_t>(rank)].is_open()) return rank;
    return -1;
  };
  for (int other = missing(); other >= 0; other = missing()) {
    processes_.expect_alive(call);
    expect<process_error>(clock::now() < limit, call, ": process ", other, " of ", processes_.size(),
                          " did not hand over its memory within ", deadline_,
                          " s; see what it does, or raise STARLING_MEETING_DEADLINE, and start the job again");
    constexpr auto nap = std::chrono::milliseconds(200);  // after which it looks whether one is lost
    if (local_socket::wait({listener_.number()}, std::min(limit, clock::now() + nap)).front()) take(all, limit);
  }
  processes_.meet(call);  // so that files of the next exchange come to the next one
  return all;
}

}  // namespace starling
