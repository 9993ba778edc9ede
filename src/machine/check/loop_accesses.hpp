// What the elements of one loop have touched, those of all threads of a block: two of them at the same bytes, one
// writing, is a mistake, also where one thread has run both, since elements have no order. Elements that all write the
// same are only counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "access_marks.hpp"
#include "starling/base/index.hpp"

namespace starling::check {

// Two elements of a loop that touch the same bytes.
struct element_conflict {
  struct side {
    std::uint32_t element = 0;  // as seen_access has it; 0: not known but in a replay
    std::vector<index_t> at{};  // its coordinates; none: they are not numbers
    bool writes = false;
  };
  std::uint32_t loop = 0;
  side first;
  side second;
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
};

class loop_accesses {
 public:
  // `number`: of the loop in its schedule. A thread's accesses are taken from its marks, which have them again when the
  // thread has done its part.
  loop_accesses(access_marks& marks, std::uint32_t number) : marks_(marks), number_(number) {}

  // A thread begins its part of the loop.
  void begin();
  // The element that has run so far is over; what it met.
  std::optional<element_conflict> enter();
  // The next one begins.
  void start(std::span<const index_t> at);
  // The thread has done its part.
  void end();

  // Bytes that several elements have written the same to.
  std::uint64_t written_alike() const { return written_alike_; }

 private:
  // What has touched a line, by any element that is over.
  struct touches {
    const line* where;
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    std::array<std::byte, 64> held{};  // what the line held after the last write
  };
  // What the thread that runs has touched in all, elements or not.
  struct own {
    line* where;
    std::uint64_t read;
    std::uint64_t written;
  };
  touches& touches_of(line& l);
  std::uint64_t met_at(const line& l, const touches& t);
  element_conflict conflict_at(const line& l, const touches& t, std::uint64_t met) const;
  element_conflict::side other_at(std::uintptr_t address, bool writes) const;
  std::vector<index_t> coordinates_of(std::uint32_t element) const;
  const std::byte* memory_of(const line& l) const;
  void set_aside();

  access_marks& marks_;
  std::uint32_t number_;
  std::vector<touches> touched_;
  std::unordered_map<const line*, std::uint32_t> places_;  // in touched_, where line::in_loop is another loop's
  std::vector<own> own_;
  std::uint32_t elements_ = 0;
  std::size_t dimensions_ = 0;
  std::vector<index_t> coordinates_;  // of all elements
  std::uint64_t written_alike_ = 0;
};

}  // namespace starling::check
