// What a matrix must be, checked on the host before anything is built from it.
#pragma once

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "sparse/csr.hpp"
#include "sparse/in_parallel.hpp"
#include "starling/base/error.hpp"

namespace starling::sparse {

// Throws argument_error, with the row, unless the arrays are a square sparse matrix: rows in order, columns in range
// and ascending, values, if there are any, finite.
template <class T>
void check_arrays(const csr_view<T>& a);

// The entries on the diagonal; zero where there is none.
template <class T>
std::vector<T> diagonal(const csr_view<T>& a);

// The entry (row, column) of checked arrays with values, or null.
template <class T>
const T* entry(const csr_view<T>& a, index_t row, index_t column) {
  const std::int32_t* begin = a.column + a.row_start[row];
  const std::int32_t* end = a.column + a.row_start[row + 1];
  const std::int32_t* at = std::lower_bound(begin, end, static_cast<std::int32_t>(column));
  return at != end && *at == column ? a.value + (at - a.column) : nullptr;
}

// check(row) for all rows, in parallel; the argument_error of the first row is thrown, so that the message does not
// depend on threads.
template <class F>
void check_rows(index_t rows, const F& check) {
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

}  // namespace starling::sparse
