// What check mode finds of collectives of teams: calls that do not fit together, and programs that rely on more than
// the calls promise.
#include "starling/shmem.hpp"
#include "support/checked.hpp"

namespace starling::test::team_collectives_kernels_tests {
namespace {

struct fixture {
  explicit fixture(machine& m)
      : world(shmem::team_world(m, {.blocks = 2})), data(zeroed<int>(m, 256)), cells(zeroed<int>(m, 8)) {}
  shmem::symmetric_team world;
  symmetric_array<int> data;
  symmetric_array<int> cells;
};

TEST_CASE("members that call different collectives") {
  auto m = checked_machine(2);
  const fixture f(m);
  const shmem::team t = f.world.handle();
  const sym<int> x = f.data.data();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                shmem::sync(b, t);
                if (b.pe() == 0) shmem::sum_reduce(b, t, x, x, 3);
                if (b.pe() == 1) shmem::broadcast(b, t, x, x, 3, 0);
              },
              defect::collective,
              {"collective 2 of a team", "team reduce at ", "team broadcast at ", "of 12 bytes", "all PEs of a team"});
}

TEST_CASE("members that differ in count, root or reduction") {
  auto m = checked_machine(2);
  const fixture f(m);
  const shmem::team t = f.world.handle();
  const sym<int> x = f.data.data();
  check_finds(m, 1, STARLING_KERNEL(block & b) { shmem::fcollect(b, t, x, x + 64, 3 + b.pe()); }, defect::collective,
              {"team fcollect", "of 12 bytes", "of 16 bytes"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { shmem::broadcast(b, t, x, x + 64, 3, b.pe()); }, defect::collective,
              {"team broadcast", "from PE 0", "from PE 1"});
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() == 0) shmem::sum_reduce(b, t, x, x + 64, 3);
                if (b.pe() == 1) shmem::max_reduce(b, t, x, x + 64, 3);
              },
              defect::collective, {"team reduce", "by sum", "by max"});
}

TEST_CASE("blocks of different index, and other teams, may do as they like") {
  auto m = checked_machine(3);
  const fixture f(m);
  const shmem::team t = f.world.handle();
  const auto pair = shmem::team_split_strided(m, t, 2, -1, 2, {.blocks = 2});
  const shmem::team u = pair.handle();
  const sym<int> x = f.data.data();
  m.run(
      2, STARLING_KERNEL(block & b) {
        const sym<int> mine = x + 128 * b.index();
        for (int i = 0; i < 40; ++i) mine.on(b.pe())[i] = i;
        if (b.index() == 0) shmem::sum_reduce(b, t, mine + 64, mine, 30);
        if (b.index() == 1 && b.pe() > 0) shmem::broadcast(b, u, mine + 64, mine, 40, 1);
        if (b.index() == 1) shmem::sync(b, t);
      });
}

TEST_CASE("only sync tells of other memory") {
  for (const index_t n : {index_t{2}, index_t{50}}) {
    auto m = checked_machine(2);
    const fixture f(m);
    const shmem::team t = f.world.handle();
    const sym<int> x = f.data.data();
    const sym<int> cell = f.cells.data();
    const auto kernel = [=](bool synced) {
      return STARLING_KERNEL(block & b) {
        for (index_t i = 0; i < n; ++i) x.on(b.pe())[i] = 1;
        *cell.on(b.pe()) = 7;
        shmem::sum_reduce(b, t, x + 128, x, n);
        if (synced) shmem::sync(b, t);
        cell.on(b.pe())[1] = b.g(cell, 1 - b.pe());
      };
    };
    m.run(1, kernel(true));
    check_finds(m, 1, kernel(false), defect::unordered_read, {"writes them"});
  }
}

TEST_CASE("a destination is written again while a member may still read it") {
  auto m = checked_machine(2);
  const fixture f(m);
  const shmem::team t = f.world.handle();
  const sym<int> x = f.data.data();
  const auto kernel = [=](bool synced) {
    return STARLING_KERNEL(block & b) {
      int sum = 0;
      for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 20; ++i) x.on(b.pe())[128 + i] = round;
        shmem::fcollect(b, t, x, x + 128, 20);
        for (int i = 0; i < 40; ++i) sum += x.on(b.pe())[i];
        if (synced) shmem::sync(b, t);
      }
      x.on(b.pe())[200] = sum;
    };
  };
  m.run(1, kernel(true));
  check_finds(m, 1, kernel(false), defect::unordered_write, {"put"});
}

TEST_CASE("barrier completes puts, sync does not") {
  auto m = checked_machine(3);
  const fixture f(m);
  const shmem::team t = f.world.handle();
  const sym<int> cell = f.cells.data();
  const auto kernel = [=](bool all) {
    return STARLING_KERNEL(block & b) {
      b.p(cell + b.pe(), 5, (b.pe() + 1) % 3);
      if (all)
        shmem::barrier(b, t);
      else
        shmem::sync(b, t);
      cell.on(b.pe())[4] = cell.on(b.pe())[(b.pe() + 2) % 3];
    };
  };
  m.run(1, kernel(true));
  check_finds(m, 1, kernel(false), defect::unordered_read, {"put"});
}

TEST_CASE("a member that does not come is a wait without an end") {
  auto m = checked_machine(3);
  const fixture f(m);
  const shmem::team t = f.world.handle();
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                if (b.pe() != 1) shmem::sync(b, t);
              },
              defect::lost_signal, {"team sync"});
}

}  // namespace
}  // namespace starling::test::team_collectives_kernels_tests
