// How processes find each other, and what is said when they do not.
#include <doctest/doctest.h>

#include <filesystem>

#include "machine/distributed/board_group.hpp"
#include "machine/distributed/process_place.hpp"
#include "machine/distributed/rendezvous.hpp"
#include "processes/programs.hpp"
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/processes.hpp"

namespace starling::test {
namespace {

TEST_CASE("the number of a process is found in the variables of each launcher") {
  const auto check = [](const variables& v, int rank, int size, const std::string& source) {
    const process_place p = place_of(v);
    CHECK(p.rank == rank);
    CHECK(p.size == size);
    CHECK(p.source == source);
  };
  check({{"STARLING_RANK", "1"}, {"STARLING_RANKS", "3"}, {"RANK", "0"}, {"WORLD_SIZE", "2"}}, 1, 3, "starling launch");
  check({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}, 2, 4,
        "mpirun");
  check({{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "3"}, {"MASTER_PORT", "29500"}}, 3, 4, "torchrun");
  check({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_ID", "7"}}, 0, 2, "srun");
  CHECK(place_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_ID", "7"}}).job !=
        place_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_ID", "8"}}).job);
}

TEST_CASE("variables that make no sense are refused with their name") {
  check_parts(failure_of<unsupported_error>([] { place_of({}); }), {"starling launch", "machine::host(n)"});
  check_parts(failure_of<argument_error>([] { place_of({{"STARLING_RANK", "4"}, {"STARLING_RANKS", "4"}}); }),
              {"STARLING_RANK=\"4\"", "0 to 3"});
  check_parts(failure_of<argument_error>([] { place_of({{"RANK", "x"}, {"WORLD_SIZE", "4"}}); }), {"RANK=\"x\""});
}

TEST_CASE("the launcher says whether the processes are on several hosts") {
  CHECK_FALSE(place_of({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "4"}}).several_hosts);
  CHECK(place_of({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}}).several_hosts);
  CHECK(place_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_NUM_NODES", "2"}}).several_hosts);
}

TEST_CASE("every process owns its PEs of one machine, and another machine can be made after it and beside it") {
  job j(3, [](int rank) {
    machine first = machine::distributed({.pes = 2});
    const machine second = machine::distributed();
    const auto own = first.local_pes();
    return message(first.size(), " ", first.processes(), " ", first.process() == rank, " ", own.begin == 2 * rank, " ",
                   own.end == 2 * rank + 2, " ", second.size(), " ",
                   first.choice().find("starling launch") != std::string::npos);
  });
  for (const std::string& text : j.ends()) CHECK(text == "6 3 1 1 1 3 1");
}

TEST_CASE("a process that never comes is named when the deadline is over") {
  const environment_guard deadline("STARLING_MEETING_DEADLINE", "0.7");
  job two_of_four(2, [](int) { return machine::distributed().choice(); }, 4);
  for (const std::string& text : two_of_four.ends())
    check_parts(text, {"process_error", "number 2, 3 did not come", "0.7 s", "STARLING_MEETING_DEADLINE"});
  job without_first(2, [](int rank) -> std::string {
    if (rank == 0) return "";
    return machine::distributed().choice();
  });
  check_parts(without_first.end_of(1), {"process_error", "number 0 did not come"});
}

TEST_CASE("a process that ends while others wait for the rest is named") {
  job j(
      2,
      [](int rank) -> std::string {
        if (rank == 1)
          std::thread([] {
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
            ::_exit(0);
          }).detach();
        return machine::distributed().choice();
      },
      3);
  check_parts(j.end_of(0), {"process_error", "process 1 of 3 has ended before"});
}

TEST_CASE("signals that processes handle while they wait for the rest do not end the meeting") {
  job j(3, [](int rank) {
    interrupt_often();
    if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return message(machine::distributed().processes(), " came");
  });
  for (const std::string& text : j.ends()) CHECK(text == "3 came");
}

TEST_CASE("a process that is stopped before it has said who it is keeps nobody waiting, and is named") {
  const environment_guard deadline("STARLING_MEETING_DEADLINE", "1");
  job j(3, [](int rank) -> std::string {
    if (rank == 1) {
      const std::string name = meeting_name(place_of(environment_variables()));
      file line;
      while (!line.is_open()) line = local_socket::connect(name);
      std::this_thread::sleep_for(std::chrono::seconds(30));
      return "came";
    }
    if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return machine::distributed().choice();
  });
  for (const int rank : {0, 2})
    check_parts(j.end_of(rank, 15), {"process_error", "number 1 did not come", "1 s", "STARLING_MEETING_DEADLINE"});
}

TEST_CASE("processes that disagree are told so: other builds, other machines") {
  job builds(2, [](int rank) {
    const process_place p = place_of(environment_variables());
    const board_group g(p, rank == 0 ? "0a1b" : "0a1c", "a machine", 4096, 10);
    return std::string("together");
  });
  for (const std::string& text : builds.ends())
    check_parts(text, {"argument_error", "process 1 runs another build", "0a1c and 0a1b"});
  job sizes(2, [](int rank) { return machine::distributed({.pes = rank + 1}).choice(); });
  for (const std::string& text : sizes.ends())
    check_parts(text, {"argument_error", "process 1 wants", "4 PEs", "2 PEs"});
}

TEST_CASE("what works in one process alone is refused, and machine::host named") {
  {
    const environment_guard check("STARLING_CHECK", "5");
    job j(1, [](int) { return machine::distributed().choice(); });
    check_parts(j.end_of(0), {"unsupported_error", "STARLING_CHECK", "machine::host(n)"});
  }
  job faults(2, [](int) -> std::string {
    machine m = machine::distributed();
    fault_plan plan;
    plan.faults.emplace_back();
    m.inject(plan);
    return "";
  });
  for (const std::string& text : faults.ends()) check_parts(text, {"unsupported_error", "machine::host(n)"});
  job streams(2, [](int rank) -> std::string {
    machine m = machine::distributed();
    (void)m.new_stream(1 - rank);
    return "";
  });
  check_parts(streams.end_of(0), {"range_error", "PE 1 is of another process", "local_pes"});
}

TEST_CASE("STARLING_MACHINE=distributed is taken by machine::best, its devices divided among the processes") {
  const environment_guard kind("STARLING_MACHINE", "distributed");
  job j(2, [](int) { return message(machine::best(4).size(), machine::best().size()); });
  for (const std::string& text : j.ends()) CHECK(text == "42");
  job odd(2, [](int) { return machine::best(3).choice(); });
  for (const std::string& text : odd.ends()) check_parts(text, {"argument_error", "3 devices for 2 processes"});
}

TEST_CASE("nothing of a machine stays in the system's shared folder") {
  const auto count = [] {
    const std::filesystem::path folder = "/dev/shm";
    if (!std::filesystem::exists(folder)) return std::ptrdiff_t{0};
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  };
  const auto before = count();
  job j(2, [](int rank) {
    const machine m = machine::distributed();
    if (rank == 1) (void)::raise(SIGKILL);
    return m.choice();
  });
  (void)j.ends();
  CHECK(count() == before);
}

}  // namespace
}  // namespace starling::test
