#include "cg/setup/preconditioner_values.hpp"

#include <algorithm>
#include <cmath>

#include "cg/iterate/phases.hpp"
#include "sparse/in_parallel.hpp"
#include "starling/base/error.hpp"

namespace starling::cg {
namespace {

// The block of n rows from `first` on, dense, by row.
template <class T>
std::vector<double> block_at(const csr_view<T>& a, index_t first, index_t n) {
  std::vector<double> block(static_cast<std::size_t>(n * n), 0.0);
  for (index_t i = 0; i < n; ++i)
    for (index_t e = a.row_start[first + i]; e < a.row_start[first + i + 1]; ++e) {
      const index_t j = a.column[e] - first;
      if (j >= 0 && j < n) block[static_cast<std::size_t>(i * n + j)] = static_cast<double>(a.value[e]);
    }
  return block;
}

// The lower factor of Cholesky in place; false if there is none.
bool factor(std::vector<double>& l, index_t n) {
  const auto at = [&](index_t i, index_t j) -> double& { return l[static_cast<std::size_t>(i * n + j)]; };
  for (index_t j = 0; j < n; ++j) {
    for (index_t k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
    if (!(at(j, j) > 0)) return false;
    at(j, j) = std::sqrt(at(j, j));
    for (index_t i = j + 1; i < n; ++i) {
      for (index_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
      at(i, j) /= at(j, j);
    }
  }
  return true;
}

// Column `column` of the inverse, from the factor.
std::vector<double> inverse_column(const std::vector<double>& l, index_t n, index_t column) {
  const auto at = [&](index_t i, index_t j) { return l[static_cast<std::size_t>(i * n + j)]; };
  std::vector<double> x(static_cast<std::size_t>(n), 0.0);
  x[static_cast<std::size_t>(column)] = 1;
  for (index_t i = 0; i < n; ++i) {
    for (index_t k = 0; k < i; ++k) x[static_cast<std::size_t>(i)] -= at(i, k) * x[static_cast<std::size_t>(k)];
    x[static_cast<std::size_t>(i)] /= at(i, i);
  }
  for (index_t i = n - 1; i >= 0; --i) {
    for (index_t k = i + 1; k < n; ++k) x[static_cast<std::size_t>(i)] -= at(k, i) * x[static_cast<std::size_t>(k)];
    x[static_cast<std::size_t>(i)] /= at(i, i);
  }
  return x;
}

}  // namespace

template <class T>
std::vector<T> inverse_blocks(const csr_view<T>& a, index_t size, const std::vector<index_t>& first_rows) {
  std::vector<T> inverse(static_cast<std::size_t>(a.rows * size), T{0});
  for (std::size_t pe = 0; pe + 1 < first_rows.size(); ++pe) {
    const index_t begin = first_rows[pe];
    const index_t end = first_rows[pe + 1];
    in_parts(ceil_div(end - begin, size), 1, [&](index_range blocks) {
      for (index_t k = blocks.begin; k < blocks.end; ++k) {
        const index_t first = begin + k * size;
        const index_t n = std::min(size, end - first);
        std::vector<double> block = block_at(a, first, n);
        expect<argument_error>(factor(block, n), "cg: the block of ", n, " rows from row ", first,
                               " on is not positive definite, so the matrix is not");
        for (index_t j = 0; j < n; ++j) {
          const std::vector<double> column = inverse_column(block, n, j);
          for (index_t i = 0; i < n; ++i)
            inverse[static_cast<std::size_t>((first + i) * size + j)] =
                static_cast<T>(column[static_cast<std::size_t>(i)]);
        }
      }
    });
  }
  return inverse;
}

template <class T>
double norm_of_blocks(const std::vector<T>& inverse, index_t size) {
  double most = 0;
  for (std::size_t row = 0; row < inverse.size(); row += static_cast<std::size_t>(size)) {
    double sum = 0;
    for (std::size_t j = row; j < row + static_cast<std::size_t>(size); ++j)
      sum += std::abs(static_cast<double>(inverse[j]));
    most = std::max(most, sum);
  }
  return most;
}

// The steps of the vectors for a matrix that is 0, where what is left to solve stays as it is.
double norm_of_polynomial(int degree, double lowest, double highest) {
  chebyshev_numbers c(lowest, highest);
  double step = 1 / c.theta;
  double result = step;
  for (int i = 0; i < degree; ++i) {
    const double rho = c.next_rho();
    step = rho * c.rho * step + 2 * rho / c.delta;
    result += step;
    c.rho = rho;
  }
  return result;
}

template double norm_of_blocks(const std::vector<float>&, index_t);
template double norm_of_blocks(const std::vector<double>&, index_t);
template std::vector<float> inverse_blocks(const csr_view<float>&, index_t, const std::vector<index_t>&);
template std::vector<double> inverse_blocks(const csr_view<double>&, index_t, const std::vector<index_t>&);

}  // namespace starling::cg
