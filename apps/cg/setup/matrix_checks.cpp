#include "cg/setup/matrix_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "sparse/in_parallel.hpp"
#include "sparse/matrix_checks.hpp"
#include "starling/base/error.hpp"

namespace starling::cg {
template <class T>
void check_symmetric_positive(const csr_view<T>& a) {
  // A few units in the last place of what sums of element matrices leave.
  const T tolerance = T{64} * std::numeric_limits<T>::epsilon();
  check_rows(a.rows, [&](index_t row) {
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

template void check_symmetric_positive(const csr_view<float>&);
template void check_symmetric_positive(const csr_view<double>&);
template double largest_row_sum(const csr_view<float>&);
template double largest_row_sum(const csr_view<double>&);

}  // namespace starling::cg
