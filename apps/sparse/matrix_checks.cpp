#include "sparse/matrix_checks.hpp"

#include <cmath>

namespace starling::sparse {
namespace {

template <class T>
void check_row(const csr_view<T>& a, index_t row) {
  index_t before = -1;
  for (index_t e = a.row_start[row]; e < a.row_start[row + 1]; ++e) {
    const index_t c = a.column[e];
    expect<argument_error>(c >= 0 && c < a.columns, "sparse: row ", row, " has the column ", c, " of a matrix with ",
                           a.columns, " columns; they are numbered from 0");
    expect<argument_error>(c > before, "sparse: row ", row, " has column ", c, " after column ", before,
                           "; columns of a row must ascend and be there once");
    if (a.value != nullptr)
      expect<argument_error>(std::isfinite(a.value[e]), "sparse: entry (", row, ", ", c, ") is ", a.value[e],
                             "; all must be finite");
    before = c;
  }
}

}  // namespace

template <class T>
void check_arrays(const csr_view<T>& a) {
  expect<argument_error>(a.rows == a.columns, "sparse: the matrix is ", a.rows, " x ", a.columns, "; must be square");
  expect<argument_error>(a.rows > 0, "sparse: the matrix has no rows; must have at least 1");
  expect<argument_error>(a.row_start != nullptr, "sparse: the matrix's row starts are a null pointer");
  expect<argument_error>(a.row_start[0] == 0, "sparse: the first row begins at entry ", a.row_start[0], "; must be 0");
  for (index_t row = 0; row < a.rows; ++row)
    expect<argument_error>(a.row_start[row + 1] >= a.row_start[row], "sparse: row ", row, " has ",
                           a.row_start[row + 1] - a.row_start[row], " entries; row starts must not fall");
  expect<argument_error>(a.nonzeros() == 0 || a.column != nullptr, "sparse: the columns of the matrix's ", a.nonzeros(),
                         " entries are a null pointer");
  check_rows(a.rows, [&](index_t row) { check_row(a, row); });
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

template void check_arrays(const csr_view<float>&);
template void check_arrays(const csr_view<double>&);
template std::vector<float> diagonal(const csr_view<float>&);
template std::vector<double> diagonal(const csr_view<double>&);

}  // namespace starling::sparse
