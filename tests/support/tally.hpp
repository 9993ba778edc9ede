// What kernels count instead of asserting: comparisons made, and those that failed. The host looks afterwards.
#pragma once

#include "starling/machine/machine.hpp"
#include "support/memory.hpp"

namespace starling::test {

// For kernels, captured by value.
struct counter {
  sym<std::uint64_t> words;

  // Called by one thread for itself; b is the block or a part of it.
  template <class Group>
  STARLING_HD void add(const Group& b, bool good) const {
    add(b, 1, good ? 0 : 1);
  }
  template <class Group>
  STARLING_HD void add(const Group& b, index_t made, index_t failed) const {
    const thread self(b);
    self.atomic_fetch_add(words, static_cast<std::uint64_t>(made), b.pe());
    if (failed != 0) self.atomic_fetch_add(words + 1, static_cast<std::uint64_t>(failed), b.pe());
  }
};

class tally {
 public:
  explicit tally(machine& m) : machine_(m), words_(zeroed<std::uint64_t>(m, 2)) {}

  test::counter counter() const { return {words_.data()}; }

  // Over all PEs.
  std::uint64_t made() const { return sum(0); }
  std::uint64_t failed() const { return sum(1); }

 private:
  std::uint64_t sum(std::size_t word) const {
    std::uint64_t all = 0;
    for (int pe = 0; pe < machine_.size(); ++pe) all += read(machine_, words_, pe)[word];
    return all;
  }

  machine& machine_;
  symmetric_array<std::uint64_t> words_;
};

}  // namespace starling::test
