// Data of a type of your own: a sparse matrix in compressed rows. data_interface tells Starling how large it is, where
// the user has its three arrays and how tasks see it; then it is copied and kept coherent like any other data. Two
// devices multiply half of the rows each.
#include <cstdio>
#include <vector>

#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using st::index_t;
using stf::slice;

// The layout without the data.
struct sparse_shape {
  index_t rows = 0;
  index_t entries = 0;
};

// Row i has the entries from first[i] to first[i + 1]. Real is `double`, or `const double` for who only reads.
template <class Real>
struct sparse_view {
  using index = std::conditional_t<std::is_const_v<Real>, const index_t, index_t>;

  sparse_shape shape;
  Real* value = nullptr;
  index* column = nullptr;
  index* first = nullptr;

  template <class Const>
    requires(!std::is_const_v<Real> && std::is_same_v<Const, const Real>)
  operator sparse_view<Const>() const  // NOLINT: as with pointers
  {
    return {shape, value, column, first};
  }
};

template <>
struct starling::stf::data_interface<sparse_view<double>> {
  using view_type = sparse_view<double>;
  using read_type = sparse_view<const double>;
  using shape_type = sparse_shape;

  static shape_type shape(const view_type& v) { return v.shape; }
  // An instance has the values first, then the columns, then the starts of the rows; all are of 8 bytes.
  static std::size_t values(const shape_type& s) { return static_cast<std::size_t>(s.entries) * sizeof(double); }
  static std::size_t columns(const shape_type& s) { return static_cast<std::size_t>(s.entries) * sizeof(index_t); }
  static std::size_t starts(const shape_type& s) { return static_cast<std::size_t>(s.rows + 1) * sizeof(index_t); }
  static std::size_t bytes(const shape_type& s) { return values(s) + columns(s) + starts(s); }
  static view_type view(const shape_type& s, std::byte* start) {
    return {s, reinterpret_cast<double*>(start), reinterpret_cast<index_t*>(start + values(s)),
            reinterpret_cast<index_t*>(start + values(s) + columns(s))};
  }
  static std::vector<memory_part> parts(const view_type& v) {
    const shape_type& s = v.shape;
    return {{reinterpret_cast<std::byte*>(v.value), 0, values(s)},
            {reinterpret_cast<std::byte*>(v.column), values(s), columns(s)},
            {reinterpret_cast<std::byte*>(v.first), values(s) + columns(s), starts(s)}};
  }
};

int main() try {
  // 2 on the diagonal, -1 beside it.
  constexpr index_t n = 500;
  std::vector<double> value;
  std::vector<index_t> column, first = {0};
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; ++j) {
      value.push_back(i == j ? 2 : -1);
      column.push_back(j);
    }
    first.push_back(static_cast<index_t>(column.size()));
  }
  std::vector<double> x(n), upper(n / 2), lower(n - n / 2);
  for (index_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = static_cast<double>(i * i);

  stf::context ctx;
  const int second = ctx.on().size() > 1 ? 1 : 0;
  const sparse_shape shape{n, static_cast<index_t>(value.size())};
  auto A = ctx.logical_data(sparse_view<double>{shape, value.data(), column.data(), first.data()});
  auto lX = ctx.logical_data(x);
  auto multiply = [&](int device, index_t from, std::vector<double>& y) {
    auto lY = ctx.logical_data(y);
    ctx.parallel_for(stf::exec_place::device(device), lY.shape(), A.read(), lX.read(), lY.write())
            ->*STARLING_KERNEL(index_t i, sparse_view<const double> a, slice<const double> v, slice<double> w) {
      double sum = 0;
      for (index_t k = a.first[from + i]; k < a.first[from + i + 1]; ++k) sum += a.value[k] * v(a.column[k]);
      w(i) = sum;
    };
  };
  multiply(0, 0, upper);
  multiply(second, n / 2, lower);
  ctx.finalize();

  // The second difference of the squares is 2 everywhere but at the ends.
  for (index_t i = 1; i + 1 < n; ++i)
    if ((i < n / 2 ? upper[static_cast<std::size_t>(i)] : lower[static_cast<std::size_t>(i - n / 2)]) != -2) return 1;
  std::printf("%d entries in %d rows, on devices 0 and %d: y(1) = %g\n", static_cast<int>(shape.entries),
              static_cast<int>(n), second, upper[1]);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
