// Logical data of views whose elements are apart, of any rank, and of arrays of no dimensions.
#include <array>
#include <map>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/stf/back_ends.hpp"
#include "support/test_machine.hpp"

namespace starling::test::strided_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;

template <int Rank>
using numbers = std::array<index_t, Rank>;

// Every element of a strided view, by its number in row-major order: where it is in the user's memory.
template <int Rank>
std::vector<std::size_t> places_of(const numbers<Rank>& extents, const numbers<Rank>& strides) {
  std::vector<std::size_t> all{0};
  for (int d = 0; d < Rank; ++d) {
    std::vector<std::size_t> finer;
    for (const std::size_t at : all)
      for (index_t i = 0; i < extents[static_cast<std::size_t>(d)]; ++i)
        finer.push_back(at + static_cast<std::size_t>(i * strides[static_cast<std::size_t>(d)]));
    all = std::move(finer);
  }
  return all;
}

struct add_its_number {
  STARLING_HD void operator()(index_t i, slice<int> v) const { v(i) += 1000 + static_cast<int>(i); }
};

// Tasks see the elements in one piece, row by row; what lies between them stays as it is.
template <int Rank>
void check_strided(const machine& m, const numbers<Rank>& extents, const numbers<Rank>& strides) {
  CAPTURE(extents);
  CAPTURE(strides);
  const std::vector<std::size_t> places = places_of<Rank>(extents, strides);
  std::size_t span = 1;
  for (const std::size_t p : places) span = std::max(span, p + 1);
  for (const auto backend : stream_and_graph) {
    std::vector<int> memory(span + 2);
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<int>(7 * i);
    std::vector<int> wanted = memory;
    for (std::size_t i = 0; i < places.size(); ++i) wanted[places[i] + 1] += 1000 + static_cast<int>(i);
    view_extents<Rank> shape;
    cuda::std::array<index_t, Rank> apart;
    for (std::size_t d = 0; d < Rank; ++d) apart[d] = strides[d];
    [&]<std::size_t... D>(std::index_sequence<D...>) {
      shape = view_extents<Rank>(extents[D]...);
    }(std::make_index_sequence<Rank>());
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(strided_view<int, Rank>(memory.data() + 1, {shape, apart}));
    CHECK(d.shape().size() == static_cast<index_t>(places.size()));
    ctx.task(exec_place::device(m.size() - 1), d.rw())->*[](stream& s, slice<int, Rank> v) {
      const slice<int> line(v.data_handle(), static_cast<index_t>(v.size()));
      s.launch(
          1, STARLING_KERNEL(block & b) {
            b.for_each(b.my_share(line.extent(0)), [&](index_t i) { add_its_number()(i, line); });
          });
    };
    ctx.finalize();
    CHECK(memory == wanted);
  }
}

TEST_CASE("views whose elements are apart") {
  const auto m = test_machine(2);
  if (!m) return;
  check_strided<1>(*m, {9}, {3});
  check_strided<1>(*m, {9}, {1});
  check_strided<2>(*m, {3, 4}, {10, 2});
  check_strided<2>(*m, {3, 4}, {1, 5});   // a transposed array
  check_strided<2>(*m, {3, 1}, {4, -7});  // of one element no stride counts
  check_strided<2>(*m, {0, 4}, {4, 1});
  check_strided<3>(*m, {2, 3, 4}, {12, 4, 1});  // in one piece
  check_strided<3>(*m, {2, 3, 4}, {30, 5, 1});  // rows of a part of an array
  check_strided<3>(*m, {2, 3, 4}, {15, 5, 1});  // planes that follow each other
  check_strided<3>(*m, {2, 3, 4}, {20, 4, 1});  // planes in one piece
  check_strided<3>(*m, {4, 3, 2}, {1, 5, 20});
  check_strided<4>(*m, {2, 2, 3, 2}, {100, 40, 8, 3});
}

TEST_CASE("random views of four dimensions") {
  const auto m = test_machine(1);
  if (!m) return;
  random any(71);
  INFO(any.seed);
  for (int round = 0; round < 25; ++round) {
    numbers<4> extents{}, strides{};
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    for (std::size_t d = 4; d-- > 1;)
      std::swap(order[d], order[static_cast<std::size_t>(any.below(static_cast<int>(d) + 1))]);
    index_t span = 1;
    for (const std::size_t d : order) {
      extents[d] = 1 + any.below(4);
      strides[d] = span + any.below(3);
      span += (extents[d] - 1) * strides[d];
    }
    check_strided<4>(*m, extents, strides);
  }
}

TEST_CASE("arrays of no dimensions") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : stream_and_graph) {
    double x = 3;
    context ctx(*m, {.backend = backend});
    auto d = ctx.logical_data(slice<double, 0>(&x));
    auto t = ctx.logical_data(stf::shape_of<slice<double, 0>>());
    ctx.task(exec_place::device(1), d.read(), t.write())
            ->*[](stream& s, slice<const double, 0> from, slice<double, 0> to) {
                  s.copy(to.data_handle(), from.data_handle(), sizeof(double));
                };
    ctx.parallel_for(stf::box(1), t.read(), d.rw())
            ->*STARLING_KERNEL(index_t, slice<const double, 0> from, slice<double, 0> to) {
      to() = 2 * from() + 1;
    };
    const auto value = ctx.wait(t);
    static_assert(std::is_same_v<decltype(value), const double>);
    CHECK(value == 3);
    ctx.finalize();
    CHECK(x == 7);
  }
}

}  // namespace
}  // namespace starling::test::strided_tests
