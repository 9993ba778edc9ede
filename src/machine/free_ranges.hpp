// The free parts of a range of offsets: first fit, and what is given back joins its neighbours.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace starling {

class free_ranges {
 public:
  free_ranges() = default;
  explicit free_ranges(std::size_t bytes) : free_{{0, bytes}} {}

  // The offset of the first part that holds `bytes`, if there is one. It stays free.
  std::optional<std::size_t> find(std::size_t bytes) const;
  // Takes what find() has returned.
  void take(std::size_t offset, std::size_t bytes);
  void give(std::size_t offset, std::size_t bytes);
  std::size_t largest() const;

 private:
  std::map<std::size_t, std::size_t> free_;  // offset -> bytes, never adjacent
};

}  // namespace starling
