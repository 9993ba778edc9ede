// Signals as synchronisation: who has raised each word, and what he knew then. A wait that passes learns it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "actor.hpp"
#include "shadow.hpp"

namespace starling::check {

// What an update of a signal covers.
struct release {
  snapshot* base = nullptr;  // the sender's knowledge
  std::uint32_t stamp = 0;   // and its own clock
  operation_set fenced;      // its operations to the same PE that arrive before
  bool orders = true;        // false: a packet's number, which orders reads alone
};

// What one block has told through a word.
struct told {
  int block = 0;
  std::uint32_t last_issued = 0;   // 1 + number of its latest update; 0: none
  release latest;                  // base null: nothing has arrived yet
  std::uint32_t last_arrived = 0;  // number of its latest update that has
  operation_set covered;
};

struct word {
  std::uintptr_t address = 0;
  std::vector<told> by;
  std::size_t tellers = 0;  // in use of `by`
  int setter = -1;          // block whose set was issued last
  std::uint32_t set_number = 0;
  std::uint64_t set_value = 0;
  where raised_at{"", 0};
  std::size_t bytes = sizeof(signal);
  bool raised = false;
  bool by_data = false;  // a put of data has told by it: who reads it without waiting is known by the put
  bool awaited = false;  // some block has looked at it

  told& of(int block) {
    for (std::size_t i = 0; i < tellers; ++i)
      if (by[i].block == block) return by[i];
    if (tellers == by.size()) by.emplace_back();
    told& t = by[tellers++];
    t.block = block;
    t.last_issued = 0;
    t.latest.base = nullptr;
    t.latest.fenced.clear();
    t.covered.clear();
    return t;
  }
};

class words {
 public:
  // A word begins at every fourth byte of a line at most.
  static constexpr std::size_t slots = 16;

  explicit words(shadow& memory, snapshots& kept) : memory_(memory), snapshots_(kept) {}

  void reset() {
    used_ = 0;
    groups_.resize(1);
  }

  // The number of the word at this address, which is a signal from now on.
  std::uint32_t at(const void* address, std::size_t bytes = sizeof(signal));
  // The same if it is one already, else 0.
  std::uint32_t find(const line& l, std::size_t offset) const {
    return l.words == 0 ? 0 : groups_[l.words][offset / 4];
  }
  word& operator[](std::uint32_t number) { return all_[number - 1]; }
  // Those that have been raised, for reports.
  std::size_t count() const { return used_; }

  // An update arrives.
  void raise(word& w, int block, std::uint32_t number, release& covers);
  // A block sees the word: it learns what all told who have raised it.
  void learn(const word& w, actor& a);
  // A block takes its value alone: of what has told by it, the last from each.
  void take(const word& w, actor& a);
  // A block that has raised the word without this block's knowing; null: none.
  const told* unknown(const word& w, const actor& a) const;

 private:
  shadow& memory_;
  snapshots& snapshots_;
  std::vector<word> all_;
  std::size_t used_ = 0;
  std::vector<std::array<std::uint32_t, slots>> groups_{1};  // number 0 is none
};

}  // namespace starling::check
