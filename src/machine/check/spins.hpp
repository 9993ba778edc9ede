// Blocks that spin without progress: a lock that nobody gives back, a flag that nobody sets. No call of theirs waits,
// so a schedule knows it by the number of calls in a row that change nothing.
#pragma once

#include <unordered_map>

#include "finding.hpp"
#include "scheduled_block.hpp"

namespace starling::check {

struct memory_map;

class spins {
 public:
  // Calls in a row that change nothing, and after which nothing will: a fraction of a second.
  static constexpr std::uint64_t most_without_progress = 200'000;

  struct change {
    int block = 0;
    where at{"", 0};
  };

  void reset() {
    without_progress_ = 0;
    changes_.clear();
  }
  void progress() { without_progress_ = 0; }
  std::uint64_t without_progress() const { return without_progress_; }
  // At each call; whether there have been too many.
  bool call() { return ++without_progress_ > most_without_progress; }

  // An atomic operation changed its word, or left it as it was.
  void changed(int block, const atomic_call& c) {
    changes_[c.address] = {block, c.at};
    without_progress_ = 0;
  }
  void attempt_failed(scheduled_block& a, const atomic_call& c) { a.attempted = {c.address, c.bytes, c.at}; }
  // The last change of a word in this schedule; null: there was none.
  const change* of(const void* word) const {
    const auto found = changes_.find(word);
    return found == changes_.end() ? nullptr : &found->second;
  }

 private:
  std::uint64_t without_progress_ = 0;
  std::unordered_map<const void*, change> changes_;
};

// Blocks that spin: on which words, who has changed them last, and the cycle if there is one.
finding spinning_finding(const std::vector<scheduled_block>& scheduled, const std::vector<scheduled_block*>& trying,
                         const spins& s, const memory_map& m);

}  // namespace starling::check
