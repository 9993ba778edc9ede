// Sync variables: signals and other words by which blocks synchronise. An update releases what happened before it; a
// wait that passes acquires that.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scheduled_block.hpp"
#include "shadow.hpp"

namespace starling::check {

// What an update of a signal covers.
struct release {
  snapshot* base = nullptr;  // what happened before it, of all blocks
  std::uint32_t stamp = 0;   // and its own clock
  operation_set fenced;      // its operations to the same PE that arrive before
  bool orders = true;        // false: a packet's number, which orders reads alone
};

// A block that releases through a sync variable, and its last release.
struct releaser {
  int block = 0;
  std::uint32_t last_issued = 0;   // 1 + number of its latest update; 0: none
  release latest;                  // base null: nothing has arrived yet
  std::uint32_t last_arrived = 0;  // number of its latest update that has
  operation_set covered;
};

struct sync_variable {
  std::uintptr_t address = 0;
  std::vector<releaser> by;
  std::size_t n_releasers = 0;  // in use of `by`
  int setter = -1;              // block whose set was issued last
  std::uint32_t set_number = 0;
  std::uint64_t set_value = 0;
  where raised_at{"", 0};
  std::size_t bytes = sizeof(signal);
  bool raised = false;
  bool by_data = false;  // a put of data has released by it: who reads it without waiting is judged by that put
  bool awaited = false;  // some block has waited for it or tested it

  releaser& of(int block) {
    for (std::size_t i = 0; i < n_releasers; ++i)
      if (by[i].block == block) return by[i];
    if (n_releasers == by.size()) by.emplace_back();
    releaser& t = by[n_releasers++];
    t.block = block;
    t.last_issued = 0;
    t.latest.base = nullptr;
    t.latest.fenced.clear();
    t.covered.clear();
    return t;
  }
};

class sync_variables {
 public:
  // A sync variable begins at every fourth byte of a line at most.
  static constexpr std::size_t slots = 16;

  explicit sync_variables(shadow& memory, snapshots& kept) : memory_(memory), snapshots_(kept) {}

  void reset() {
    used_ = 0;
    groups_.resize(1);
  }

  // The number of the sync variable at this address, which is one from now on.
  std::uint32_t at(const void* address, std::size_t bytes = sizeof(signal));
  // The same if it is one already, else 0.
  std::uint32_t find(const line& l, std::size_t offset) const {
    return l.sync_variables == 0 ? 0 : groups_[l.sync_variables][offset / 4];
  }
  sync_variable& operator[](std::uint32_t number) { return all_[number - 1]; }
  // Those that have been raised, for reports.
  std::size_t count() const { return used_; }

  // An update arrives.
  void raise(sync_variable& w, int block, std::uint32_t number, release& covers);
  // A block has seen the value: it acquires what all released that have raised it.
  void acquire(const sync_variable& w, scheduled_block& a);
  // A block takes the value alone: it acquires the last operation of each that has released by it, and not what was
  // before.
  void acquire_value(const sync_variable& w, scheduled_block& a);
  // A block whose release this block has not acquired; null: none.
  const releaser* unacquired(const sync_variable& w, const scheduled_block& a) const;

 private:
  shadow& memory_;
  snapshots& snapshots_;
  std::vector<sync_variable> all_;
  std::size_t used_ = 0;
  std::vector<std::array<std::uint32_t, slots>> groups_{1};  // number 0 is none
};

}  // namespace starling::check
