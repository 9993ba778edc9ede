// Collectives of teams that are called wrongly: typed errors that say call, place, value and the next step.
#include "starling/shmem.hpp"
#include "support/failure.hpp"
#include "support/levels.hpp"
#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test::shmem_collectives_tests {
namespace {

// Three PEs; a team of PE 2 and PE 0, in this order; room for arrays.
struct fixture {
  explicit fixture(machine& m)
      : world(shmem::team_world(m)),
        two(shmem::team_split_strided(m, world.handle(), 2, -2, 2)),
        data(zeroed<double>(m, 64)) {}
  shmem::symmetric_team world;
  shmem::symmetric_team two;
  symmetric_array<double> data;
};

template <class Error, class Kernel>
void check_refused(machine& m, int blocks, const Kernel& k, const std::string& call,
                   std::initializer_list<std::string> parts) {
  const std::string text = failure_of<Error>([&] { m.run(blocks, k); });
  check_parts(text, {call + " at ", "shmem_collectives_kernels.cpp:", "block "});
  check_parts(text, parts);
  check_usable(m);
}

TEST_CASE("a PE that is no member") {
  auto m = test_machine(3);
  if (!m) return;
  const fixture f(*m);
  const shmem::team t = f.two.handle();
  for (const level by : all_levels) {
    auto k = STARLING_KERNEL(block & b) {
      if (b.pe() == 1) at_level(b, by, [&](const auto& g) { shmem::sync(g, t); });
    };
    check_refused<argument_error>(*m, 1, k, "team sync",
                                  {"PE 1 is no member of the team of 2 PEs from PE 2 on", "team_my_pe is -1"});
  }
}

TEST_CASE("no team") {
  auto m = test_machine(3);
  if (!m) return;
  const fixture f(*m);
  const sym<double> x = f.data.data();
  auto k = STARLING_KERNEL(block & b) { shmem::sum_reduce(b, shmem::team(), x, x, 3); };
  check_refused<argument_error>(*m, 1, k, "team reduce", {"the team was never made", "team_world"});
}

TEST_CASE("more blocks than the team has memory for") {
  auto m = test_machine(3);
  if (!m) return;
  const fixture f(*m);
  const shmem::team t = f.world.handle();
  auto k = STARLING_KERNEL(block & b) { shmem::barrier(b, t); };
  check_refused<range_error>(*m, 2, k, "team sync", {"block 1 calls", "memory for 1 blocks", "team_options::blocks"});
}

TEST_CASE("a root that is no member's number") {
  auto m = test_machine(3);
  if (!m) return;
  const fixture f(*m);
  const shmem::team t = f.two.handle();
  const sym<double> x = f.data.data();
  for (const int root : {2, -1, 2147483647}) {
    auto k = STARLING_KERNEL(block & b) {
      if (b.pe() != 1) shmem::broadcast(b, t, x, x, 3, root);
    };
    check_refused<range_error>(*m, 1, k, "team broadcast",
                               {message("root ", root, " of a team of 2 PEs"), "from 0 to 1"});
  }
}

TEST_CASE("counts below 0") {
  auto m = test_machine(3);
  if (!m) return;
  const fixture f(*m);
  const shmem::team t = f.world.handle();
  const sym<double> x = f.data.data();
  const char* calls[] = {"team broadcast", "team fcollect", "team collect", "team alltoall",
                         "team alltoalls", "team reduce",   "team inscan",  "team exscan"};
  for (int call = 0; call < 8; ++call) {
    auto k = STARLING_KERNEL(block & b) {
      if (call == 0) shmem::broadcast(b, t, x, x + 32, -5, 0);
      if (call == 1) shmem::fcollect(b, t, x, x + 32, -5);
      if (call == 2) shmem::collect(b, t, x, x + 32, -5);
      if (call == 3) shmem::alltoall(b, t, x, x + 32, -5);
      if (call == 4) shmem::alltoalls(b, t, x, x + 32, 1, 1, -5);
      if (call == 5) shmem::max_reduce(b, t, x, x + 32, -5);
      if (call == 6) shmem::sum_inscan(b, t, x, x + 32, -5);
      if (call == 7) shmem::sum_exscan(b, t, x, x + 32, -5);
    };
    check_refused<range_error>(*m, 1, k, calls[call], {"-5 elements", "at least 0"});
  }
}

TEST_CASE("strides below 1") {
  auto m = test_machine(3);
  if (!m) return;
  const fixture f(*m);
  const shmem::team t = f.world.handle();
  const sym<double> x = f.data.data();
  for (const bool of_dest : {true, false}) {
    auto k = STARLING_KERNEL(block & b) { shmem::alltoalls(b, t, x, x + 32, of_dest ? 0 : 1, of_dest ? 1 : -2, 2); };
    check_refused<range_error>(*m, 1, k, "team alltoalls",
                               {message("a stride of ", of_dest ? 0 : -2), "strides are at least 1"});
  }
}

TEST_CASE("dest and source that overlap") {
  auto m = test_machine(3);
  if (!m) return;
  const fixture f(*m);
  const shmem::team t = f.world.handle();
  const sym<double> x = f.data.data();
  const char* calls[] = {"team broadcast", "team fcollect",  "team collect",
                         "team alltoall",  "team alltoalls", "team reduce"};
  for (int call = 0; call < 6; ++call) {
    auto k = STARLING_KERNEL(block & b) {
      if (call == 0) shmem::broadcast(b, t, x + 1, x, 2, 0);
      if (call == 1) shmem::fcollect(b, t, x, x + 5, 2);
      if (call == 2) shmem::collect(b, t, x, x + 5, 2);
      if (call == 3) shmem::alltoall(b, t, x, x, 2);
      if (call == 4) shmem::alltoalls(b, t, x, x + 15, 3, 1, 2);
      if (call == 5) shmem::sum_reduce(b, t, x, x + 1, 2);
    };
    check_refused<argument_error>(*m, 1, k, calls[call], {"dest and source", "overlap", "apart"});
  }
}

TEST_CASE("a member that does not come") {
  auto m = test_machine(3);
  if (!m) return;
  const fixture f(*m);
  const shmem::team t = f.world.handle();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() != 1) shmem::sync(b, t);
  };
  const std::string text = failure_of<stall_error>([&] { m->run(1, k, {.deadline = stall_deadline}); });
  check_parts(text, {"team sync at ", "shmem_collectives_kernels.cpp:", "PE 1"});
  check_usable(*m);
}

TEST_CASE("arrays that are longer than their memory") {
  auto m = test_machine(3);
  if (!m || skipped_on_gpus("know what memory there is")) return;
  const fixture f(*m);
  const shmem::team t = f.world.handle();
  const sym<double> x = f.data.data();
  for (const index_t n : {index_t{3}, index_t{20}}) {  // packets; stores
    auto k = STARLING_KERNEL(block & b) { shmem::fcollect(b, t, x + (64 - n), x, n); };
    const std::string text = failure_of<range_error>([&] { m->run(1, k); });
    check_parts(text, {"put at ", "not inside one live allocation"});
    check_usable(*m);
  }
}

}  // namespace
}  // namespace starling::test::shmem_collectives_tests
