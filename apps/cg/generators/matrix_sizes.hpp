// What generators of matrices allow as sizes.
#pragma once

#include <initializer_list>

#include "cg/names.hpp"
#include "starling/base/error.hpp"
#include "starling/base/index.hpp"

namespace starling::cg {

// A size and what it is called.
struct named_size {
  const char* name;
  index_t value;
};

// The product of the sizes; throws argument_error for one below `least` and for more rows than a matrix may have.
inline index_t checked_rows(const char* matrix, std::initializer_list<named_size> sizes, index_t least = 1,
                            index_t rows_each = 1) {
  index_t rows = rows_each;
  for (const named_size& s : sizes) {
    expect<argument_error>(s.value >= least, "cg: ", matrix, " of ", s.name, " = ", s.value, "; must be at least ",
                           least);
    expect<argument_error>(s.value <= most_rows / rows, "cg: ", matrix, " of ", s.name, " = ", s.value,
                           " would have more than ", most_rows, " rows; columns have 32 bits: use a smaller one");
    rows *= s.value;
  }
  return rows;
}

}  // namespace starling::cg
