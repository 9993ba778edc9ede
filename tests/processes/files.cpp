// Processes hand each other open files, and texts of any length.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/distributed/board_group.hpp"
#include "machine/distributed/file_exchange.hpp"
#include "support/processes.hpp"
#include "support/random.hpp"

namespace starling::test {
namespace {

board_group group_of_this(double deadline = 10) { return {place_of(environment_variables()), "files", 1, deadline}; }

file with_number(int number) {
  file made(::memfd_create("test", MFD_CLOEXEC));
  (void)!::write(made.number(), &number, sizeof number);
  return made;
}

int number_in(const file& f) {
  int number = -1;
  (void)!::pread(f.number(), &number, sizeof number, 0);
  return number;
}

std::string exchanged(int rank, int processes) {
  board_group group = group_of_this();
  file_exchange files(group, 10);
  random r(static_cast<std::uint64_t>(rank) + 1);
  for (int round = 0; round < 30; ++round) {
    std::this_thread::sleep_for(std::chrono::microseconds(r.below(3000)));
    const std::vector<file> all = files.exchange("a test", with_number(100 * round + rank));
    for (int other = 0; other < processes; ++other) {
      const file& f = all[static_cast<std::size_t>(other)];
      if (other == rank ? f.is_open() : number_in(f) != 100 * round + other)
        return message("round ", round, ": ", number_in(f), " of process ", other);
    }
  }
  return "all came";
}

TEST_CASE("every process gets the files of all others, round by round") {
  for (const int processes : {2, 3, 5}) {
    job j(processes, [&](int rank) { return exchanged(rank, processes); });
    for (const std::string& text : j.ends()) CHECK(text == "all came");
  }
}

TEST_CASE("signals that processes handle while they exchange files lose none") {
  constexpr int processes = 3;
  job j(processes, [](int rank) {
    interrupt_often();
    return exchanged(rank, processes);
  });
  for (const std::string& text : j.ends()) CHECK(text == "all came");
}

TEST_CASE("who does not hand over a file is named") {
  job j(3, [](int rank) -> std::string {
    board_group group = group_of_this();
    file_exchange files(group, 0.5);
    if (rank == 1) std::this_thread::sleep_for(std::chrono::seconds(2));
    (void)files.exchange("a test", with_number(rank));
    return "came";
  });
  CHECK(j.end_of(0).find("process_error: a test: process 1 of 3 did not hand over its memory within 0.5 s") == 0);
}

TEST_CASE("who has died before it hands over a file is named") {
  job j(2, [](int rank) -> std::string {
    board_group group = group_of_this();
    file_exchange files(group, 10);
    if (rank == 1) ::_exit(0);
    (void)files.exchange("a test", with_number(rank));
    return "came";
  });
  const std::string text = j.end_of(0);
  CHECK(text.find("process_error: ") == 0);
  CHECK(text.find("process 1 of 2") != std::string::npos);
}

TEST_CASE("texts and lists of any length come in the order of the ranks") {
  constexpr int processes = 3;
  job j(processes, [](int rank) -> std::string {
    board_group group = group_of_this();
    const auto values_of = [](int r) {
      std::vector<double> values;
      for (int i = 0; i < 3000 * r; ++i) values.push_back(r + 1.0 / (i + 1));
      return values;
    };
    std::vector<double> expected;
    for (int r = 0; r < processes; ++r)
      for (const double v : values_of(r)) expected.push_back(v);
    return group.collect_all("a test", values_of(rank)) == expected &&
                   group.collect_all("a test", std::vector<double>()).empty()
               ? "same"
               : "others";
  });
  for (const std::string& text : j.ends()) CHECK(text == "same");
}

}  // namespace
}  // namespace starling::test
