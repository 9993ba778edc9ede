// iput and iget: every pair of strides moves the right elements and leaves those between alone.
#include "support/elements.hpp"
#include "support/levels.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::strided_tests {
namespace {

constexpr index_t room = 700;
constexpr index_t start = 5;

template <class T>
void run_strided(machine& m, sym<T> to, sym<T> from, index_t n, index_t to_stride, index_t from_stride, level l,
                 bool put) {
  auto k = STARLING_KERNEL(block & b) {
    const int right = (b.pe() + 1) % b.n_pes();
    const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
    at_level(b, l, [&](const auto& g) {
      if (put)
        g.iput(to + start, to_stride, from.on(b.pe()) + start, from_stride, n, right);
      else
        g.iget(to.on(b.pe()) + start, to_stride, from + start, from_stride, n, left);
    });
  };
  m.run(1, k, {.threads = 64});
}

template <class T>
void check_strided(bool put) {
  auto m = test_machine(3);
  if (!m) return;
  auto source = poisoned<T>(*m, room);
  for (int pe = 0; pe < 3; ++pe) {
    std::vector<T> values;
    for (index_t i = 0; i < room; ++i) values.push_back(element<T>::of(mix(static_cast<std::uint64_t>(pe), 3, i)));
    write(*m, source, pe, values);
  }
  for (const level l : all_levels)
    for (const index_t n : {0, 1, 2, 33, 130})
      for (const index_t to_stride : {1, 2, 5})
        for (const index_t from_stride : {1, 3}) {
          CAPTURE(l);
          CAPTURE(n);
          CAPTURE(to_stride);
          CAPTURE(from_stride);
          auto dest = poisoned<T>(*m, room);
          run_strided<T>(*m, dest.data(), source.data(), n, to_stride, from_stride, l, put);
          for (int pe = 0; pe < 3; ++pe) {
            const std::vector<T> sent = read(*m, source, (pe + 2) % 3);
            std::vector<T> wanted(static_cast<std::size_t>(room), poison_value<T>());
            for (index_t i = 0; i < n; ++i)
              wanted[static_cast<std::size_t>(start + i * to_stride)] =
                  sent[static_cast<std::size_t>(start + i * from_stride)];
            CHECK((read(*m, dest, pe) == wanted));
          }
        }
}

TEST_CASE_TEMPLATE("iput", T, std::uint8_t, float, words3) { check_strided<T>(true); }

TEST_CASE_TEMPLATE("iget", T, std::uint8_t, float, words3) { check_strided<T>(false); }

TEST_CASE("iput of a column into a row of the next PE") {
  auto m = test_machine(2);
  if (!m) return;
  auto plane = poisoned<double>(*m, 12 * 20);
  const auto v = plane.view(12, 20);
  auto k = STARLING_KERNEL(block & b) {
    const auto mine = v.on(b.pe());
    b.for_each(12, 20, [&](index_t y, index_t x) { mine(y, x) = static_cast<double>(100 * b.pe() + y) + 0.01 * x; });
    b.barrier_all();
    if (b.pe() == 0) b.iput(v.at(2, 3), 1, &mine(0, 19), 20, 12, 1);
  };
  m->run(1, k);
  const std::vector<double> seen = read(*m, plane, 1);
  for (index_t y = 0; y < 12; ++y)
    for (index_t x = 0; x < 20; ++x) {
      const bool put = y == 2 && x >= 3 && x < 15;
      const double wanted = put ? static_cast<double>(x - 3) + 0.01 * 19 : static_cast<double>(100 + y) + 0.01 * x;
      CHECK(seen[static_cast<std::size_t>(y * 20 + x)] == doctest::Approx(wanted));
    }
}

}  // namespace
}  // namespace starling::test::strided_tests
