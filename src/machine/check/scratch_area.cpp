#include "scratch_area.hpp"

#include "starling/base/error.hpp"

namespace starling::check {

int scratch_area::take(int block) {
  if (free_.empty()) {
    expect<memory_error>(slices_.size() < slices, "check mode: more than ", slices,
                         " blocks have scratch memory at the same time; run fewer blocks");
    free_.push_back(static_cast<int>(slices_.size()));
    slices_.emplace_back();
  }
  const int s = free_.back();
  free_.pop_back();
  slices_[static_cast<std::size_t>(s)] = {.block = block};
  return s;
}

std::byte* scratch_area::add_piece(int s, std::size_t bytes) {
  constexpr std::size_t unit = 64;  // a piece begins a line
  constexpr std::size_t apart = 256;
  slice& mine = slices_[static_cast<std::size_t>(s)];
  const std::size_t at = mine.used + apart;
  expect<memory_error>(at + bytes + apart <= slice_bytes,
                       "check mode: a block asks for too many pieces of scratch "
                       "memory (",
                       mine.pieces.size(), " so far); take one large piece");
  std::byte* start = begin_ + static_cast<std::size_t>(s) * slice_bytes + at;
  mine.used = at + (bytes + unit - 1) / unit * unit;
  fill_with_poison(start, bytes);
  memory_.open_fresh(start, bytes);
  mine.pieces.push_back({start, bytes});
  return start;
}

void scratch_area::give_back(int s) {
  slice& mine = slices_[static_cast<std::size_t>(s)];
  for (const piece& p : mine.pieces) memory_.end_life(p.start, p.bytes);
  free_.push_back(s);
}

int scratch_area::owner(std::uintptr_t address) const {
  const std::size_t i = index_of(address);
  return i < slices_.size() ? slices_[i].block : -1;
}

const scratch_area::piece* scratch_area::find(std::uintptr_t address) const {
  const std::size_t i = index_of(address);
  if (i >= slices_.size()) return nullptr;
  const piece* last = nullptr;
  for (const piece& p : slices_[i].pieces)
    if (reinterpret_cast<std::uintptr_t>(p.start) <= address) last = &p;
  return last;
}

}  // namespace starling::check
