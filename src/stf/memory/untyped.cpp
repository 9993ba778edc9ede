#include "starling/stf/untyped.hpp"

#include <bit>
#include <limits>

#include "data_state.hpp"
#include "starling/base/error.hpp"

namespace starling::stf::detail {

void refuse_bytes_as(std::size_t bytes, const void* start, std::size_t size, std::size_t alignment) {
  throw argument_error(message("stf::untyped::as: ", bytes, " bytes at ", start, " as elements of ", size,
                               " bytes at multiples of ", alignment,
                               "; name a type of which these are whole elements"));
}

void check_untyped(const untyped_shape& s) {
  expect<argument_error>(std::has_single_bit(s.alignment) && s.alignment <= most_alignment,
                         "stf::untyped: an alignment of ", s.alignment, "; must be a power of two up to ",
                         most_alignment);
  if (s.bytes > static_cast<std::size_t>(std::numeric_limits<index_t>::max()))
    throw argument_error(message("stf::untyped: ", s.bytes, " bytes; data may have up to 2^63 - 1"));
}

void check_made(const std::shared_ptr<data_state>& d) {
  expect<argument_error>(d != nullptr,
                         "stf: another type of logical data that is none; make it with context::logical_data");
}

void check_typed(const std::shared_ptr<data_state>& d, const untyped_shape& have, std::size_t bytes,
                 std::size_t alignment) {
  check_made(d);
  expect<argument_error>(bytes == have.bytes, "stf::typed: ", d->body.describe(), " has ", have.bytes,
                         " bytes, and the type with this shape ", bytes, "; all of the data has to have the type");
  expect<argument_error>(alignment <= have.alignment, "stf::typed: ", d->body.describe(), " is aligned to ",
                         have.alignment, " bytes, and elements of the type need ", alignment,
                         "; make the data with that alignment");
}

}  // namespace starling::stf::detail
