#include "cg/matrix_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "cg/in_parallel.hpp"
#include "starling/base/error.hpp"

namespace starling::cg {
namespace {

// The entry (row, column), or null.
template <class T>
const T* entry(const csr_view<T>& a, index_t row, index_t column) {
  const std::int32_t* begin = a.column + a.row_start[row];
  const std::int32_t* end = a.column + a.row_start[row + 1];
  const std::int32_t* at = std::lower_bound(begin, end, static_cast<std::int32_t>(column));
  return at != end && *at == column ? a.value + (at - a.column) : nullptr;
}

template <class T>
void check_row(const csr_view<T>& a, index_t row) {
  index_t before = -1;
  for (index_t e = a.row_start[row]; e < a.row_start[row + 1]; ++e) {
    const index_t c = a.column[e];
    expect<argument_error>(c >= 0 && c < a.columns, "cg: row ", row, " has the column ", c, " of a matrix with ",
                           a.columns, " columns; they are numbered from 0");
    expect<argument_error>(c > before, "cg: row ", row, " has column ", c, " after column ", before,
                           "; columns of a row must ascend and be there once");
    expect<argument_error>(std::isfinite(a.value[e]), "cg: entry (", row, ", ", c, ") is ", a.value[e],
                           "; all must be finite");
    before = c;
  }
}

// Work on rows in parallel; the failure of the first row is thrown, so that the message does not depend on threads.
template <class F>
void each_row(index_t rows, const F& check) {
  std::mutex mutex;
  index_t first = std::numeric_limits<index_t>::max();
  std::string text;
  in_parts(rows, 1, [&](index_range part) {
    for (index_t row = part.begin; row < part.end; ++row) try {
        check(row);
      } catch (const argument_error& e) {
        const std::lock_guard lock(mutex);
        if (row < first) {
          first = row;
          text = e.what();
        }
        return;
      }
  });
  if (!text.empty()) throw argument_error(text);
}

}  // namespace

template <class T>
void check_arrays(const csr_view<T>& a) {
  expect<argument_error>(a.rows == a.columns, "cg: the matrix is ", a.rows, " x ", a.columns, "; must be square");
  expect<argument_error>(a.rows > 0, "cg: the matrix has no rows; must have at least 1");
  expect<argument_error>(a.row_start != nullptr, "cg: the matrix's row starts are a null pointer");
  expect<argument_error>(a.row_start[0] == 0, "cg: the first row begins at entry ", a.row_start[0], "; must be 0");
  for (index_t row = 0; row < a.rows; ++row)
    expect<argument_error>(a.row_start[row + 1] >= a.row_start[row], "cg: row ", row, " has ",
                           a.row_start[row + 1] - a.row_start[row], " entries; row starts must not fall");
  expect<argument_error>(a.nonzeros() == 0 || (a.column != nullptr && a.value != nullptr), "cg: the ",
                         a.column == nullptr ? "columns" : "values", " of the matrix's ", a.nonzeros(),
                         " entries are a null pointer");
  each_row(a.rows, [&](index_t row) { check_row(a, row); });
}

template <class T>
void check_symmetric_positive(const csr_view<T>& a) {
  // A few units in the last place of what sums of element matrices leave.
  const T tolerance = T{64} * std::numeric_limits<T>::epsilon();
  each_row(a.rows, [&](index_t row) {
    expect<argument_error>(a.row_start[row + 1] > a.row_start[row], "cg: row ", row,
                           " has no entries, so the matrix is singular; remove the row and its column");
    const T* on_diagonal = entry(a, row, row);
    expect<argument_error>(on_diagonal != nullptr && *on_diagonal > T{0}, "cg: the diagonal entry of row ", row, " is ",
                           on_diagonal ? *on_diagonal : T{0}, "; of a positive definite matrix all are positive");
    for (index_t e = a.row_start[row]; e < a.row_start[row + 1]; ++e) {
      const index_t c = a.column[e];
      const T value = a.value[e];
      const T* other = entry(a, c, row);
      const T mirrored = other ? *other : T{0};
      const bool equal = other && std::abs(value - mirrored) <= tolerance * (std::abs(value) + std::abs(mirrored));
      expect<argument_error>(equal, "cg: the matrix is not symmetric: entry (", row, ", ", c, ") is ", value,
                             ", entry (", c, ", ", row, ") is ", other ? message(mirrored) : std::string("not stored"),
                             "; conjugate gradients need a symmetric matrix");
    }
  });
}

template <class T>
std::vector<T> diagonal(const csr_view<T>& a) {
  std::vector<T> d(static_cast<std::size_t>(a.rows), T{0});
  in_parts(a.rows, 1, [&](index_range part) {
    for (index_t row = part.begin; row < part.end; ++row)
      if (const T* at = entry(a, row, row)) d[static_cast<std::size_t>(row)] = *at;
  });
  return d;
}

template <class T>
double largest_row_sum(const csr_view<T>& a) {
  std::mutex mutex;
  double largest = 0;
  in_parts(a.rows, 1, [&](index_range part) {
    double here = 0;
    for (index_t row = part.begin; row < part.end; ++row) {
      double sum = 0;
      for (index_t e = a.row_start[row]; e < a.row_start[row + 1]; ++e)
        sum += std::abs(static_cast<double>(a.value[e]));
      here = std::max(here, sum);
    }
    const std::lock_guard lock(mutex);
    largest = std::max(largest, here);
  });
  return largest;
}

#define STARLING_CG_CHECKS(T)                                 \
  template void check_arrays(const csr_view<T>&);             \
  template void check_symmetric_positive(const csr_view<T>&); \
  template std::vector<T> diagonal(const csr_view<T>&);       \
  template double largest_row_sum(const csr_view<T>&);
STARLING_CG_CHECKS(float)
STARLING_CG_CHECKS(double)
#undef STARLING_CG_CHECKS

}  // namespace starling::cg
