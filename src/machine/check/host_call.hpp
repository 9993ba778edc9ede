// What is kept of a function that the host ran in one schedule (stream::call), so that the others need not run it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "access_marks.hpp"

namespace starling::check {

// Parts of memory and what they held.
class byte_ranges {
 public:
  // Keeps what these bytes hold now.
  void keep(std::byte* start, std::size_t bytes);
  // The bytes that have changed since, as they are now.
  byte_ranges changes() const;
  // Writes what was kept back to where it was.
  void write() const;

  template <class F>
  void each(const F& f) const {
    for (const part& p : parts_) f(p.start, p.held.size());
  }

 private:
  struct part {
    std::byte* start;
    std::vector<std::byte> held;
  };
  std::vector<part> parts_;
};

struct host_call {
  struct access {
    line* at;
    std::uint64_t read;
    std::uint64_t written;
  };
  bool made = false;
  byte_ranges changed;
  std::vector<access> accesses;  // that were seen
};

}  // namespace starling::check
