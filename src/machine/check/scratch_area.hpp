// Scratch memory of blocks in check mode. It lies in memory that is watched, each piece with room around it that
// belongs to none, so that reads of what nobody wrote and indices behind the end are seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "shadow.hpp"

namespace starling::check {

class scratch_area {
 public:
  // As much as a block can have, with the room between its pieces, and how many blocks can have some at a time.
  static constexpr std::size_t slice_bytes = std::size_t{4} << 20;
  static constexpr std::size_t slices = 2048;
  static constexpr std::size_t all_bytes = slice_bytes * slices;

  scratch_area(std::byte* begin, shadow& memory) : begin_(begin), memory_(memory) {}

  struct piece {
    std::byte* start;
    std::size_t bytes;
  };

  // A slice for the block with this number. Throws memory_error when there is none.
  int take(int block);
  // Fresh memory.
  std::byte* add_piece(int slice, std::size_t bytes);
  // Its pieces are no longer alive; what they were is known until somebody takes the slice.
  void give_back(int slice);

  bool covers(std::uintptr_t address) const { return address - reinterpret_cast<std::uintptr_t>(begin_) < all_bytes; }
  // The block whose slice an address that is covered lies in; -1: no block's.
  int owner(std::uintptr_t address) const;
  // The last piece that begins at or before the address, of its slice; null: there is none.
  const piece* find(std::uintptr_t address) const;

 private:
  struct slice {
    int block = -1;
    std::vector<piece> pieces{};
    std::size_t used = 0;
  };
  std::size_t index_of(std::uintptr_t address) const {
    return (address - reinterpret_cast<std::uintptr_t>(begin_)) / slice_bytes;
  }

  std::byte* begin_;
  shadow& memory_;
  std::vector<slice> slices_;  // those that have been used
  std::vector<int> free_;
};

}  // namespace starling::check
