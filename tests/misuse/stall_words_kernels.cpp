// Waits for words that never compare: reports write values as their types do.
#include <limits>

#include "starling/shmem/wait.hpp"
#include "support/levels.hpp"
#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test::stall_words_tests {
namespace {

constexpr const char* file = "misuse/stall_words_kernels.cpp";
const launch_options soon{.deadline = 0.05};

template <class T>
block_report stalled(machine& m, sym<T> x, T held, compare how, T wanted, level l) {
  auto k = STARLING_KERNEL(block & b) {
    at_level(b, l, [&](const auto& g) {
      g.atomic_set(x, held, b.pe());
      if (b.pe() == 0) shmem::wait_until(g, x, how, wanted, 1);
    });
  };
  const auto e = stall_of([&] { m.run(1, k, soon); });
  if (!e) return {};
  check_parts(e->what(), {"deadline passed in wait_until at ", file, "word +0x",
                          message(symbol(how), " ", wanted, " wanted, ", held, " seen, from PE 1")});
  return report_of(*e, 0, 0);
}

TEST_CASE_TEMPLATE("stall reports show signed and unsigned values, at the ends of each type", T, std::int32_t,
                   std::uint32_t, std::int64_t, std::uint64_t) {
  auto m = test_machine(2);
  if (!m) return;
  const T lowest = std::numeric_limits<T>::min();
  const T highest = std::numeric_limits<T>::max();
  const T last = static_cast<T>(-1);
  auto words = zeroed<T>(*m, 1);
  const sym<T> x = words.data();
  struct wait {
    T held;
    compare how;
    T wanted;
  };
  int at = 0;
  for (const wait& w :
       {wait{last, compare::eq, lowest}, wait{lowest, compare::gt, lowest}, wait{highest, compare::lt, highest},
        wait{lowest, compare::ge, highest}, wait{highest, compare::le, lowest}, wait{last, compare::ne, last}}) {
    const block_report r = stalled<T>(*m, x, w.held, w.how, w.wanted, all_levels[at++ % 3]);
    CHECK(r.op == operation::wait_until);
    CHECK(r.kind == kind_of<T>());
    CHECK(static_cast<T>(r.wanted) == w.wanted);
    CHECK(static_cast<T>(r.seen) == w.held);
    CHECK(r.peer == 1);
  }
  check_usable(*m);
}

TEST_CASE("a wait for any of several words names the first that counts; one for all the one that is missing") {
  auto m = test_machine(1);
  if (!m) return;
  auto words = zeroed<std::int32_t>(*m, 40);
  auto skips = zeroed<int>(*m, 40);
  std::vector<int> skip(40, 0);
  skip[0] = skip[1] = 1;
  write(*m, skips, 0, skip);
  const sym<std::int32_t> x = words.data();
  const sym<int> status = skips.data();
  for (const level l : all_levels) {
    auto any = STARLING_KERNEL(block & b) {
      at_level(b, l, [&](const auto& g) { (void)shmem::wait_until_any(g, x, 40, status.on(0), compare::lt, -5); });
    };
    const auto e = stall_of([&] { m->run(1, any, soon); });
    REQUIRE(e);
    check_parts(e->what(), {"wait_until_any at ", "first of several words +0x", "< -5 wanted, 0 seen"});
    const std::uint64_t first = report_of(*e, 0, 0).signal_offset;
    auto all = STARLING_KERNEL(block & b) {
      at_level(b, l, [&](const auto& g) {
        g.atomic_set(x + 31, 4, 0);
        g.sync();
        shmem::wait_until_all(g, x, 40, status.on(0), compare::eq, 0);
      });
    };
    const auto missing = stall_of([&] { m->run(1, all, soon); });
    REQUIRE(missing);
    check_parts(missing->what(), {"wait_until at ", "== 0 wanted, 4 seen"});
    CHECK(report_of(*missing, 0, 0).signal_offset == first + (31 - 2) * sizeof(std::int32_t));
    m->fill(words.on(0), 0, 40 * sizeof(std::int32_t));
  }
  check_usable(*m);
}

TEST_CASE("a value that never comes, and a wait with a time of its own in a program that ends") {
  auto m = test_machine(2);
  if (!m) return;
  auto words = zeroed<double>(*m, 1);
  auto flags = zeroed<std::int64_t>(*m, 1);
  const sym<double> x = words.data();
  const sym<std::int64_t> flag = flags.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) (void)shmem::take_value(b, x, 0.0, 1);
    if (b.pe() == 1) (void)shmem::wait_until_for(b, flag, compare::lt, 0, 100.0, 0);
  };
  const auto e = stall_of([&] { m->run(1, k, soon); });
  REQUIRE(e);
  CHECK(report_of(*e, 0, 0).state == block_state::expired);
  CHECK(report_of(*e, 0, 0).op == operation::take_value);
  CHECK(report_of(*e, 1, 0).state == block_state::waiting);
  check_parts(e->what(), {"take_value at ", "!= 0x0 wanted, 0x0 seen, from PE 1", "< 0 wanted, 0 seen, from PE 0"});
  check_usable(*m);
}

}  // namespace
}  // namespace starling::test::stall_words_tests
