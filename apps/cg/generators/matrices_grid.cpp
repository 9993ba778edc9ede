// Matrices of regular grids, x running fastest.
#include "cg/generators/make_rows.hpp"
#include "cg/generators/matrix_sizes.hpp"
#include "cg/matrices.hpp"

namespace starling::cg {
namespace {

template <class T>
struct five_points {
  index_t nx, ny;

  index_t count(index_t row) const {
    const index_t x = row % nx;
    const index_t y = row / nx;
    return 1 + (x > 0) + (x < nx - 1) + (y > 0) + (y < ny - 1);
  }

  void fill(index_t row, std::int32_t* column, T* value) const {
    const index_t x = row % nx;
    const index_t y = row / nx;
    const auto add = [&](bool there, index_t to, T v) {
      if (!there) return;
      *column++ = static_cast<std::int32_t>(to);
      *value++ = v;
    };
    add(y > 0, row - nx, -1);
    add(x > 0, row - 1, -1);
    add(true, row, 4);
    add(x < nx - 1, row + 1, -1);
    add(y < ny - 1, row + nx, -1);
  }
};

// The points beside and including `at` on an axis of n.
constexpr index_range around(index_t at, index_t n) { return {at > 0 ? at - 1 : 0, at < n - 1 ? at + 2 : n}; }

template <class T>
struct cube_points {
  index_t nx, ny, nz;

  index_range along_x(index_t row) const { return around(row % nx, nx); }
  index_range along_y(index_t row) const { return around(row / nx % ny, ny); }
  index_range along_z(index_t row) const { return around(row / nx / ny, nz); }

  index_t count(index_t row) const { return along_x(row).size() * along_y(row).size() * along_z(row).size(); }

  void fill(index_t row, std::int32_t* column, T* value) const {
    const index_range xs = along_x(row);
    const index_range ys = along_y(row);
    const index_range zs = along_z(row);
    for (index_t z = zs.begin; z < zs.end; ++z)
      for (index_t y = ys.begin; y < ys.end; ++y)
        for (index_t x = xs.begin; x < xs.end; ++x) {
          const index_t to = (z * ny + y) * nx + x;
          *column++ = static_cast<std::int32_t>(to);
          *value++ = to == row ? T(26) : T(-1);
        }
  }
};

}  // namespace

template <class T>
csr<T> grid_2d(index_t nx, index_t ny) {
  const index_t rows = checked_rows("grid_2d", {{"nx", nx}, {"ny", ny}});
  return make_rows<T>(rows, five_points<T>{nx, ny});
}

template <class T>
csr<T> grid_3d(index_t nx, index_t ny, index_t nz) {
  const index_t rows = checked_rows("grid_3d", {{"nx", nx}, {"ny", ny}, {"nz", nz}});
  return make_rows<T>(rows, cube_points<T>{nx, ny, nz});
}

template csr<float> grid_2d(index_t, index_t);
template csr<double> grid_2d(index_t, index_t);
template csr<float> grid_3d(index_t, index_t, index_t);
template csr<double> grid_3d(index_t, index_t, index_t);

}  // namespace starling::cg
