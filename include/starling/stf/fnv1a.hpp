// fnv1a: the hash of Fowler, Noll and Vo with 64 bits, variant 1a: the same bytes give the same number everywhere. For
// telling values apart in debugging, not against anyone who wants them to collide.
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling::stf {

constexpr std::uint64_t fnv1a(const std::byte* start, std::size_t bytes) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes; ++i) h = (h ^ static_cast<std::uint64_t>(start[i])) * 0x100000001b3u;
  return h;
}

}  // namespace starling::stf
