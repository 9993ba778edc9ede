// Where a strided view of the user has its elements, as pieces that follow each other in an instance.
#include <algorithm>
#include <utility>
#include <vector>

#include "starling/base/error.hpp"
#include "starling/stf/data_interface.hpp"

namespace starling::stf::detail {
namespace {

struct dimension {
  index_t extent;
  index_t stride;  // in elements
};

// Nested as the dimensions of an array are, in any order.
void expect_apart(std::vector<dimension> all) {
  std::sort(all.begin(), all.end(), [](const dimension& a, const dimension& b) { return a.stride < b.stride; });
  index_t span = 1;
  for (const dimension& d : all) {
    expect<argument_error>(d.stride >= span, "context::logical_data: elements along a dimension of ", d.extent, " are ",
                           d.stride,
                           " apart, which those of the other dimensions reach over; strides must not be "
                           "negative, and elements not overlap");
    span += (d.extent - 1) * d.stride;
  }
}

// Dimensions whose elements follow each other as those of one do are one.
void merge(std::vector<dimension>& all) {
  for (std::size_t d = all.size(); d-- > 1;) {
    dimension& outer = all[d - 1];
    if (outer.stride != all[d].stride * all[d].extent) continue;
    outer = {outer.extent * all[d].extent, all[d].stride};
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(d));
  }
}

}  // namespace

std::vector<memory_part> strided_parts(std::byte* start, std::size_t element_bytes, const index_t* extents,
                                       const index_t* strides, int rank) {
  std::vector<dimension> all;
  for (int d = 0; d < rank; ++d) {
    if (extents[d] == 0) return {{start, 0, 0, 1, 0}};
    if (extents[d] > 1) all.push_back({extents[d], strides[d]});
  }
  expect_apart(all);
  merge(all);
  memory_part rows{start, 0, element_bytes, 1, element_bytes};
  if (!all.empty() && all.back().stride == 1) {
    rows.row_bytes = rows.pitch = static_cast<std::size_t>(all.back().extent) * element_bytes;
    all.pop_back();
  }
  if (!all.empty()) {
    rows.rows = static_cast<std::size_t>(all.back().extent);
    rows.pitch = static_cast<std::size_t>(all.back().stride) * element_bytes;
    all.pop_back();
  }
  std::vector<memory_part> parts{rows};
  for (; !all.empty(); all.pop_back()) {
    const std::vector<memory_part> inner = std::exchange(parts, {});
    const std::size_t bytes = inner.back().offset + rows.row_bytes * rows.rows;
    for (index_t i = 0; i < all.back().extent; ++i)
      for (memory_part p : inner) {
        p.start += static_cast<std::size_t>(i * all.back().stride) * element_bytes;
        p.offset += static_cast<std::size_t>(i) * bytes;
        parts.push_back(p);
      }
  }
  return parts;
}

}  // namespace starling::stf::detail
