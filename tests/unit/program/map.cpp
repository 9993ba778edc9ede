// map_box of generated programs, as the threads of a block of a GPU call it: here one after the other.
#include "starling/program/map.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "support/random.hpp"

namespace starling::test::map_tests {
namespace {

using generated::addresses;
using generated::each;
using generated::place_of;
using generated::row;
using generated::rows;
using generated::detail::in_steps;
using generated::detail::map_box;
using generated::detail::map_line;

// Rows that begin where a multiple of 128 bytes does, in memory that ends with the last element.
template <class T>
class field {
 public:
  field(index_t nz, index_t ny, index_t nx) : ny_(ny), nx_(nx), size_(nz * ny * nx) {
    const std::size_t bytes = static_cast<std::size_t>(size_) * sizeof(T);
    start_.reset(static_cast<T*>(std::aligned_alloc(128, (bytes + 127) / 128 * 128)));
    end_ = (bytes + 127) / 128 * 128 / sizeof(T);
    std::fill_n(start_.get(), end_, T{111});
  }
  T& operator()(index_t z, index_t y, index_t x) const { return start_.get()[(z * ny_ + y) * nx_ + x]; }
  std::vector<T> all() const { return {start_.get(), start_.get() + end_}; }
  void fill(random& r) {
    for (index_t i = 0; i < size_; ++i) start_.get()[i] = static_cast<T>(r.below(100));
  }

 private:
  struct release {
    void operator()(T* p) const { std::free(p); }
  };
  index_t ny_, nx_, size_;
  std::size_t end_ = 0;
  std::unique_ptr<T, release> start_;
};

index_range some_of(random& r, index_t n, index_t border) {
  const index_t begin = border + r.below(n - 2 * border);
  return {begin, begin + r.below(n - border - begin + 1)};
}

TEST_CASE_TEMPLATE("every element of a box once, and no other", T, std::uint8_t, std::int32_t, float, double) {
  random r(91);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (int times = 0; times < 300; ++times) {
    const index_t nz = 3 + r.below(4), ny = 3 + r.below(r.below(2) == 0 ? 5 : 40);
    // Half of the rows have whole vectors.
    const index_t nx = r.below(2) == 0 ? 16 * (1 + r.below(4)) : 5 + r.below(60);
    const int members = 1 + static_cast<int>(r.below(r.below(3) == 0 ? 8 : r.below(2) == 0 ? 128 : 1024));
    const bool backwards = r.below(2) == 0;
    const index_range zs = some_of(r, nz, 1), ys = some_of(r, ny, 1), xs = some_of(r, nx, 2);
    CAPTURE(nz);
    CAPTURE(ny);
    CAPTURE(nx);
    CAPTURE(members);
    CAPTURE(backwards);
    field<T> from(nz, ny, nx), to(nz, ny, nx), expected(nz, ny, nx);
    field<float> other(1, 1, nx);  // of another type, the same for all rows
    from.fill(r);
    other.fill(r);
    for (index_t z = zs.begin; z < zs.end; ++z)
      for (index_t y = ys.begin; y < ys.end; ++y)
        for (index_t x = xs.begin; x < xs.end; ++x)
          expected(z, y, x) =
              static_cast<T>(from(z, y, x - 1) + 2 * from(z, y, x) + 3 * from(z, y, x + 2) + 4 * from(z, y - 1, x) +
                             5 * from(z, y + 1, x - 2) + 6 * from(z - 1, y, x) + static_cast<T>(other(0, 0, x)) +
                             from(z, x % ny, 0) + static_cast<T>(x % 7));
    const auto reads = [&](const auto& lanes, index_t z, index_t y, index_t x) {
      return rows(row<-1, 0, 2>(lanes, from(z, y, x)), row<0>(lanes, from(z, y - 1, x)),
                  row<-2, 0>(lanes, from(z, y + 1, x)), row<0>(lanes, from(z - 1, y, x)),
                  row<0>(lanes, other(0, 0, x)));
    };
    const auto values = [&](const auto& lanes, index_t z, index_t, index_t x, const auto& center, const auto& below,
                            const auto& above, const auto& behind, const auto& same) {
      return each(lanes, x, [&](auto lane, index_t i) {
        return static_cast<T>(center(lane, -1) + 2 * center(lane, 0) + 3 * center(lane, 2) + 4 * below(lane, 0) +
                              5 * above(lane, -2) + 6 * behind(lane, 0) + static_cast<T>(same(lane, 0)) +
                              from(z, i % ny, 0) + static_cast<T>(i % 7));
      });
    };
    const auto begins = [&](index_t z, index_t y, index_t x) {
      return addresses(to(z, y, x), from(z, y, x), from(z, y - 1, x), from(z, y + 1, x), from(z - 1, y, x),
                       other(0, 0, x));
    };
    index_t stored = 0;
    const auto store = [&](index_t z, index_t y, index_t x, const auto& v) {
      stored += static_cast<index_t>(sizeof v / sizeof(T));
      place_of(v, to(z, y, x)) = v;
    };
    for (int member = 0; member < members; ++member)
      if (times % 2 == 0)
        map_box<T, 4, 2>(member, members, backwards, zs, ys, xs, reads, values, begins, store);
      else
        map_box<T, 8, 4>(member, members, backwards, zs, ys, xs, reads, values, begins, store);
    CHECK(stored == zs.size() * ys.size() * xs.size());
    CHECK(to.all() == expected.all());
  }
}

TEST_CASE_TEMPLATE("every element of a line once, and no other", T, std::int32_t, float, double) {
  random r(93);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (int times = 0; times < 300; ++times) {
    const index_t n = 5 + r.below(600), shift = r.below(2) * r.below(4);
    const int members = 1 + static_cast<int>(r.below(40));
    const bool backwards = r.below(2) == 0;
    const index_range xs = some_of(r, n, 2);
    CAPTURE(n);
    CAPTURE(shift);
    CAPTURE(members);
    CAPTURE(backwards);
    field<T> from(1, 1, n), to(1, 1, n + shift), expected(1, 1, n + shift);
    from.fill(r);
    for (index_t x = xs.begin; x < xs.end; ++x)
      expected(0, 0, x + shift) = static_cast<T>(from(0, 0, x - 2) + 2 * from(0, 0, x + 1));
    const auto begins = [&](index_t x) { return addresses(to(0, 0, x + shift), from(0, 0, x)); };
    for (int member = 0; member < members && !xs.empty(); ++member)
      in_steps<T, 8, 4>(xs, begins, [&](const auto& line, auto at_once) {
        map_line<at_once>(
            member, members, backwards, line,
            [&](const auto& lanes, index_t x) { return rows(row<-2, 0, 1>(lanes, from(0, 0, x))); },
            [&](const auto& lanes, index_t x, const auto& around) {
              return each(lanes, x,
                          [&](auto lane, index_t) { return static_cast<T>(around(lane, -2) + 2 * around(lane, 1)); });
            },
            [&](index_t x, const auto& v) { place_of(v, to(0, 0, x + shift)) = v; });
      });
    CHECK(to.all() == expected.all());
  }
}

TEST_CASE("vectors are taken where all rows begin with one") {
  for (const index_t nx : {index_t{64}, index_t{62}}) {
    field<float> from(1, 9, nx), to(1, 9, nx);
    int vectors = 0, elements = 0;
    map_box<float, 4, 2>(
        0, 1, false, {0, 1}, {0, 9}, {1, nx - 1},
        [&](const auto& lanes, index_t z, index_t y, index_t x) { return rows(row<0>(lanes, from(z, y, x))); },
        [&](const auto& lanes, index_t, index_t, index_t x, const auto& center) {
          return each(lanes, x, [&](auto lane, index_t) { return center(lane, 0); });
        },
        [&](index_t z, index_t y, index_t x) { return addresses(to(z, y, x), from(z, y, x)); },
        [&](index_t z, index_t y, index_t x, const auto& v) {
          ++(sizeof v > sizeof(float) ? vectors : elements);
          place_of(v, to(z, y, x)) = v;
        });
    CAPTURE(nx);
    CHECK(vectors == (nx == 64 ? 9 * 14 : 0));
    CHECK(4 * vectors + elements == 9 * (nx - 2));
  }
}

TEST_CASE("elements that are apart in memory are stored one by one") {
  using generated::scattered_addresses;
  random r(95);
  INFO("STARLING_TEST_SEED=" << r.seed);
  field<float> from(1, 9, 64), to(1, 9, 64), expected(1, 9, 64);
  from.fill(r);
  for (index_t y = 0; y < 9; ++y)
    for (index_t x = 0; x < 32; ++x) expected(0, y, 2 * x) = from(0, y, 2 * x) + 1;
  const auto value = [](const auto& lanes, index_t x, const auto& element) {
    return each(lanes, x, [&](auto, index_t i) { return element(i) + 1; });
  };
  for (const int members : {1, 5, 600}) {
    std::fill_n(&to(0, 0, 0), 9 * 64, 111.f);
    for (int member = 0; member < members; ++member)
      map_box<float, 4, 2>(
          member, members, false, {0, 1}, {0, 9}, {0, 32}, [](const auto&...) { return rows(); },
          [&](const auto& lanes, index_t, index_t y, index_t x) {
            return value(lanes, x, [&](index_t i) { return from(0, y, 2 * i); });
          },
          [](index_t, index_t, index_t) { return scattered_addresses{}; },
          [&](index_t, index_t y, index_t x, const auto& v) { place_of(v, to(0, y, 2 * x)) = v; });
    CHECK(to.all() == expected.all());
  }
}

}  // namespace
}  // namespace starling::test::map_tests
