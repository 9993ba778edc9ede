// What waits for sync variables order, whoever writes them; waits with a time of their own; results that come by quiet.
#include "starling/shmem/atomics.hpp"
#include "starling/shmem/lock.hpp"
#include "starling/shmem/wait.hpp"
#include "support/checked.hpp"

namespace starling::test::sync_variables_kernels_tests {
namespace {

struct how_released {
  bool fence = true;
  bool atomic = false;
  cuda::memory_order order = cuda::memory_order_relaxed;
  bool take = false;
};

// PE 0 puts data, then a flag; PE 1 waits for the flag and reads the data.
auto released(sym<int> data, sym<int> flag, sym<int> seen, how_released h) {
  return STARLING_KERNEL(block & b) {
    if (b.pe() == 0) {
      b.p(data, 4, 1);
      if (h.fence) b.fence();
      if (h.atomic)
        b.atomic_set(flag, -1, 1, h.order);
      else
        b.p(flag, -1, 1);
    } else {
      if (h.take)
        (void)shmem::take_value(b, flag, 0, 0);
      else
        shmem::wait_until(b, flag, compare::lt, 0, 0);
      *seen.on(1) = *data.on(1);
    }
  };
}

TEST_CASE("a wait for a word that was put sees what was fenced before the put, and nothing else") {
  machine m = checked_machine(2);
  const auto data = zeroed<int>(m, 1);
  const auto flags = zeroed<int>(m, 1);
  const auto seen = zeroed<int>(m, 1);
  const auto run = [&](how_released h) {
    m.fill(flags.on(1), 0, sizeof(int));
    m.run(1, released(data.data(), flags.data(), seen.data(), h));
  };
  run({});
  CHECK(read(m, seen, 1)[0] == 4);
  run({.fence = false, .atomic = true, .order = cuda::memory_order_release});
  CHECK(read(m, seen, 1)[0] == 4);
  for (const how_released wrong :
       {how_released{.fence = false}, how_released{.atomic = true}, how_released{.take = true}}) {
    const auto e = finding_of([&] { run(wrong); });
    if (e) CHECK_MESSAGE(e->what_kind() == defect::unordered_read, e->what());
  }
}

TEST_CASE("a word of a put of many is there when it compares; the others need not be") {
  machine m = one_thread_machine(2, 200);
  constexpr index_t n = 12;
  const auto boxes = zeroed<std::int64_t>(m, n);
  const auto sources = zeroed<std::int64_t>(m, n);
  const auto seen = zeroed<std::int64_t>(m, n);
  const sym<std::int64_t> box = boxes.data();
  const sym<std::int64_t> source = sources.data();
  const sym<std::int64_t> out = seen.data();
  enum class reads : int { what_came, all_that_came, another };
  const auto kernel = [=](reads r) {
    return STARLING_KERNEL(block & b) {
      if (b.pe() == 0) {
        for (index_t i = 0; i < n; ++i) source.on(0)[i] = 10 + i;
        b.put(box, source.on(0), n, 1);
        return;
      }
      if (r == reads::all_that_came) {
        shmem::wait_until_all(b, box, n, nullptr, compare::ne, 0, 0);
        for (index_t i = 0; i < n; ++i) out.on(1)[i] = box.on(1)[i];
        return;
      }
      const index_t i = shmem::wait_until_any(b, box, n, nullptr, compare::ne, 0, 0);
      const index_t j = r == reads::what_came ? i : (i + 1) % n;
      out.on(1)[j] = box.on(1)[j];
      if (r == reads::what_came) box.on(1)[i] = 0;  // it may be used again
    };
  };
  const auto run = [&](reads r) {
    m.fill(boxes.on(1), 0, n * sizeof(std::int64_t));
    m.run(1, kernel(r));
  };
  run(reads::all_that_came);
  for (index_t i = 0; i < n; ++i) CHECK(read(m, seen, 1)[static_cast<std::size_t>(i)] == 10 + i);
  run(reads::what_came);
  const auto e = finding_of([&] { run(reads::another); });
  if (e) CHECK_MESSAGE(e->what_kind() == defect::unordered_read, e->what());
}

TEST_CASE("a word that was put is a credit: what its block has read before may be overwritten") {
  machine m = one_thread_machine(2);
  const auto boxes = zeroed<int>(m, 1);
  const auto words = zeroed<std::uint32_t>(m, 2);
  const auto sums = zeroed<int>(m, 1);
  const sym<int> box = boxes.data();
  const sym<std::uint32_t> full = words.data();
  const sym<std::uint32_t> free = words.data() + 1;
  const sym<int> sum = sums.data();
  const auto kernel = [=](bool waits) {
    return STARLING_KERNEL(block & b) {
      for (std::uint32_t k = 1; k <= 4; ++k) {
        if (b.pe() == 0) {
          if (waits) shmem::wait_until(b, free, compare::ge, k - 1, 1);
          b.p(box, static_cast<int>(k), 1);
          b.fence();
          b.p(full, k, 1);
        } else {
          shmem::wait_until(b, full, compare::ge, k, 0);
          *sum.on(1) += *box.on(1);
          b.p(free, k, 0);
        }
      }
    };
  };
  m.run(1, kernel(true));
  CHECK(read(m, sums, 1)[0] == 10);
  for (int pe = 0; pe < 2; ++pe) m.fill(words.on(pe), 0, 2 * sizeof(std::uint32_t));
  const auto e = finding_of([&] { m.run(1, kernel(false)); });
  CHECK(e.has_value());
}

TEST_CASE("a word that nobody changes: what is wanted, and what it holds, with its sign") {
  machine m = checked_machine(2);
  const auto words = zeroed<std::int32_t>(m, 4);
  const sym<std::int32_t> x = words.data();
  const auto one = STARLING_KERNEL(block & b) {
    b.atomic_set(x, -7, b.pe());
    if (b.pe() == 1) shmem::wait_until(b, x, compare::gt, -1, 0);
  };
  check_finds(m, 1, one, defect::lost_signal,
              {"waits in wait_until at ", "sync_variables_kernels.cpp:", "> -1, which holds -7, from PE 0"});
  const auto each_other = STARLING_KERNEL(block & b) {
    const std::int32_t wanted[4] = {1, 1, 1, -2};
    const int status[4] = {1, 1, 1, 0};
    (void)shmem::wait_until_any_vector(b, x, 4, status, compare::eq, wanted, 1 - b.pe());
    b.p(x + 3, -2, 1 - b.pe());
  };
  check_finds(m, 1, each_other, defect::deadlock,
              {"wait-for cycle: PE", "wait_until_any at", "any of several, first", "== -2, which holds 0"});
  const auto fresh = m.allocate<std::int64_t>(1);
  const sym<std::int64_t> y = fresh.data();
  const auto unset = STARLING_KERNEL(block & b) { shmem::wait_until(b, y, compare::ne, 0); };
  check_finds(m, 1, unset, defect::uninitialised, {"which has no value", "machine::fill"});
}

TEST_CASE("a wait with a time of its own may end either way, and who does not ask is found") {
  machine m = checked_machine(2, 200);
  const auto words = zeroed<int>(m, 2);
  const sym<int> flag = words.data();
  const sym<int> data = words.data() + 1;
  const auto kernel = [=](bool asks) {
    return STARLING_KERNEL(block & b) {
      if (b.pe() == 0) {
        b.p(data, 3, 1);
        b.fence();
        b.p(flag, 1, 1);
      } else {
        wait_status s = shmem::wait_until_for(b, flag, compare::eq, 1, 0.5, 0);
        while (asks && s == wait_status::timed_out) s = shmem::wait_until_for(b, flag, compare::eq, 1, 0.5, 0);
        volatile int seen = *data.on(1);
        (void)seen;
      }
    };
  };
  m.run(1, kernel(true));
  m.fill(words.on(1), 0, 2 * sizeof(int));
  const auto e = finding_of([&] { m.run(1, kernel(false)); });
  if (e) CHECK_MESSAGE(e->what_kind() == defect::unordered_read, e->what());
  m.fill(words.on(1), 0, 2 * sizeof(int));
  // Time passes while others only look, and when nobody can go on.
  const auto late = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) {
      if (shmem::wait_until_for(b, flag, compare::eq, 9, 0.5, 1) == wait_status::timed_out) b.atomic_set(flag, 5, 1);
    } else {
      while (!shmem::test(b, flag, compare::eq, 5)) {
      }
    }
  };
  m.run(1, late);
  const auto never = STARLING_KERNEL(block & b) {
    while (b.pe() == 0 && shmem::wait_until_for(b, flag, compare::eq, 9, 0.5, 1) == wait_status::timed_out) {
    }
  };
  check_finds(m, 1, never, defect::endless, {"wait_until at"});
}

TEST_CASE("the result of an atomic operation that is not waited for is there after quiet, and not before") {
  machine m = checked_machine(2);
  const auto counts = zeroed<std::uint64_t>(m, 1);
  const auto results = zeroed<std::uint64_t>(m, 2);
  const sym<std::uint64_t> count = counts.data();
  const sym<std::uint64_t> result = results.data();
  const auto kernel = [=](bool quiet) {
    return STARLING_KERNEL(block & b) {
      std::uint64_t* mine = result.on(b.pe());
      shmem::atomic_fetch_add_nbi(b, mine, count, 3, 0);
      if (quiet) b.quiet();
      mine[1] = mine[0] + 1;
    };
  };
  m.run(1, kernel(true));
  CHECK(read(m, counts, 0)[0] == 6);
  CHECK(read(m, results, 0)[1] + read(m, results, 1)[1] == 0 + 3 + 2);
  const auto e = finding_of([&] { m.run(1, kernel(false)); });
  if (e) CHECK_MESSAGE(e->what_kind() == defect::source_reused, e->what());
  const auto foreign = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) shmem::atomic_fetch_inc_nbi(b, result.on(1), count, 0);
    b.quiet();
  };
  check_finds(m, 1, foreign, defect::foreign_access, {"calls atomic_nbi at", "memory of another PE"});
}

TEST_CASE("what is not done under the lock is found") {
  machine m = one_thread_machine(3);
  auto owner = shmem::make_lock(m, 1);
  const shmem::lock lock = owner.handle();
  const auto numbers = zeroed<int>(m, 1);
  const sym<int> x = numbers.data();
  const auto kernel = [=](bool inside) {
    return STARLING_KERNEL(block & b) {
      shmem::set_lock(b, lock);
      const int seen = b.g(x, 0);
      if (!inside) shmem::clear_lock(b, lock);
      b.p(x, seen + 1, 0);
      if (inside) shmem::clear_lock(b, lock);
    };
  };
  m.run(1, kernel(true));
  CHECK(read(m, numbers, 0)[0] == 3);
  owner.reset(m);
  const auto e = finding_of([&] { m.run(1, kernel(false)); });
  if (e) CHECK((e->what_kind() == defect::unordered_read || e->what_kind() == defect::unordered_write));
}

}  // namespace
}  // namespace starling::test::sync_variables_kernels_tests
