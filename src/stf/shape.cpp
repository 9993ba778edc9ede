#include "starling/stf/shape.hpp"

#include "starling/base/error.hpp"
#include "starling/stf/detail/checked_layout.hpp"
#include "starling/stf/partition_grid.hpp"

namespace starling::stf {

void refuse_range(int dimension, index_t lower, index_t upper) {
  throw argument_error(
      message("box: dimension ", dimension, " goes from ", lower, " to ", upper,
              "; the end must not lie before the start, a size must not be negative or above 2^63 - 1"));
}

void refuse_ranges(std::size_t given, int rank) {
  throw argument_error(message("box: ", given, " ranges for ", rank, " dimensions; give one for each"));
}

void refuse_margin(index_t n) {
  throw argument_error(message("inner: ", n, " coordinates at each side; must be at least 0"));
}

void refuse_size(const index_t* extents, int rank) {
  std::string text = message(extents[0]);
  for (int d = 1; d < rank; ++d) text += message(" x ", extents[d]);
  throw argument_error(message("box: ", text, " elements are more than 2^63 - 1; make it smaller"));
}

void refuse_index(index_t index, int dimension, index_t extent) {
  throw range_error(message("slice: index ", index, " in dimension ", dimension, " of extent ", extent,
                            "; indices start at 0 and end before the extent"));
}

void refuse_owner(index_t which, index_t count) {
  throw argument_error(message("partition: owner ", which, " of ", count,
                               "; there must be at least one owner, and they are numbered from 0"));
}

namespace {

std::string sizes_of(const std::int32_t* counts, int rank) {
  std::string text = message(counts[0]);
  for (int d = 1; d < rank; ++d) text += message(" x ", counts[d]);
  return text;
}

}  // namespace

void refuse_owner_grid(const std::int32_t* counts, int rank) {
  throw argument_error(message("partition: a grid of ", sizes_of(counts, rank),
                               " owners; there is at least one along each dimension, and less than 2^31"));
}

void refuse_owner_grid(const std::int32_t* counts, int rank, int shape_rank, index_t owners) {
  throw argument_error(message("partition: a grid of ", sizes_of(counts, rank), " owners for a shape of ", shape_rank,
                               shape_rank == 1 ? " dimension and " : " dimensions and ", owners,
                               owners == 1 ? " owner" : " owners",
                               "; name a place or a number of parts for each of the "
                               "grid, and a number along each dimension of the shape"));
}

void refuse_dimension(int dimension, int rank) {
  throw argument_error(message("blocked: dimension ", dimension, " of a shape with ", rank,
                               rank == 1 ? " dimension" : " dimensions", "; dimensions are numbered from 0"));
}

}  // namespace starling::stf
