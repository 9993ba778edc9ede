#include "host_call.hpp"

#include <cstring>

namespace starling::check {

void byte_ranges::keep(std::byte* start, std::size_t bytes) {
  for (const part& p : parts_)
    if (p.start == start && p.held.size() == bytes) return;
  parts_.push_back({start, {start, start + bytes}});
}

byte_ranges byte_ranges::changes() const {
  byte_ranges changed;
  for (const part& p : parts_) {
    for (std::size_t i = 0; i < p.held.size(); ++i) {
      std::size_t end = i;
      while (end < p.held.size() && p.start[end] != p.held[end]) ++end;
      if (end > i) changed.parts_.push_back({p.start + i, {p.start + i, p.start + end}});
      i = end;
    }
  }
  return changed;
}

void byte_ranges::write() const {
  for (const part& p : parts_) std::memcpy(p.start, p.held.data(), p.held.size());
}

}  // namespace starling::check
