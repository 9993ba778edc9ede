// put, put_nbi, get, get_nbi: every element type, size and alignment, by block, warp and thread.
#include "support/elements.hpp"
#include "support/levels.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::put_get_tests {
namespace {

enum class form : int { blocking, nbi, generated };
constexpr form all_forms[] = {form::blocking, form::nbi, form::generated};

// Where the elements lie in the arrays on both sides.
struct place {
  index_t n, dest_offset, source_offset;
};

// Elements of at most 4100 elements and a margin before and after.
constexpr index_t most = 4100;
constexpr index_t room = most + 32;

std::vector<place> places() {
  std::vector<place> all;
  for (const index_t n : {0, 1, 3, 15, 16, 17, 63, 1000})
    for (const index_t dest : {16, 17}) all.push_back({n, dest, dest + (n % 2)});
  all.push_back({most, 16, 16});
  all.push_back({most - 5, 19, 19});
  all.push_back({most - 5, 16, 17});
  return all;
}

// What PE `pe` holds before: known elements at the source, poison at the destination.
template <class T>
std::vector<T> source_values(int pe) {
  std::vector<T> v;
  for (index_t i = 0; i < room; ++i) v.push_back(element<T>::of(mix(static_cast<std::uint64_t>(pe), 7, i)));
  return v;
}

// The destination holds the elements that PE `from` has at the source place, and poison around them.
template <class T>
void check_arrived(const std::vector<T>& dest, const std::vector<T>& source, const place& at) {
  index_t wrong = 0;
  for (index_t i = 0; i < room; ++i) {
    const bool inside = i >= at.dest_offset && i < at.dest_offset + at.n;
    const T wanted =
        inside ? source[static_cast<std::size_t>(i - at.dest_offset + at.source_offset)] : poison_value<T>();
    wrong += !(dest[static_cast<std::size_t>(i)] == wanted);
  }
  CHECK(wrong == 0);
}

template <class T>
void run_put(machine& m, sym<T> to, sym<const T> from, level l, form f, place at) {
  auto k = STARLING_KERNEL(block & b) {
    const int right = (b.pe() + 1) % b.n_pes();
    const T* mine = from.on(b.pe()) + at.source_offset;
    at_level(b, l, [&](const auto& g) {
      if (f == form::blocking) g.put(to + at.dest_offset, mine, at.n, right);
      if (f == form::nbi) g.put_nbi(to + at.dest_offset, mine, at.n, right);
      if (f == form::generated) g.put(to + at.dest_offset, [=](index_t i) { return mine[i]; }, at.n, right);
      g.quiet();
    });
  };
  m.run(1, k, {.threads = 96});
}

template <class T>
void run_get(machine& m, sym<T> to, sym<T> from, level l, form f, place at) {
  auto k = STARLING_KERNEL(block & b) {
    const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
    T* mine = to.on(b.pe()) + at.dest_offset;
    at_level(b, l, [&](const auto& g) {
      if (f == form::blocking) g.get(mine, from + at.source_offset, at.n, left);
      if (f == form::nbi) {
        g.get_nbi(mine, from + at.source_offset, at.n, left);
        g.quiet();
      }
    });
  };
  m.run(1, k, {.threads = 96});
}

// Either way the elements move from a PE to its right neighbour.
template <class T, class Run>
void check_transfers(machine& m, const Run& run) {
  const int n = m.size();
  auto source = poisoned<T>(m, room);
  for (int pe = 0; pe < n; ++pe) write(m, source, pe, source_values<T>(pe));
  for (const level l : all_levels)
    for (const place& at : places()) {
      CAPTURE(l);
      CAPTURE(at.n);
      CAPTURE(at.dest_offset);
      CAPTURE(at.source_offset);
      const auto dest = poisoned<T>(m, room);
      run(dest, source, l, at);
      for (int pe = 0; pe < n; ++pe) {
        check_arrived(read(m, dest, pe), source_values<T>((pe + n - 1) % n), at);
        CHECK(read(m, source, pe) == source_values<T>(pe));
      }
    }
}

TEST_CASE_TEMPLATE("put", T, std::uint8_t, bytes3, double, words3, longs5) {
  auto m = test_machine(2);
  if (!m) return;
  for (const form f : all_forms) {
    CAPTURE(f);
    check_transfers<T>(*m, [&](const auto& dest, const auto& source, level l, const place& at) {
      const sym<T> s = source.data();
      run_put<T>(*m, dest.data(), sym<const T>(s.on(0), s.stride_bytes()), l, f, at);
    });
  }
}

TEST_CASE_TEMPLATE("get", T, std::uint8_t, bytes3, double, words3, longs5) {
  auto m = test_machine(2);
  if (!m) return;
  for (const form f : {form::blocking, form::nbi}) {
    CAPTURE(f);
    check_transfers<T>(*m, [&](const auto& dest, const auto& source, level l, const place& at) {
      run_get<T>(*m, dest.data(), source.data(), l, f, at);
    });
  }
}

}  // namespace
}  // namespace starling::test::put_get_tests
