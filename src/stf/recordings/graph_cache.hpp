// Executable graphs of earlier epochs. An epoch looks for one with as many tasks and copies as it has and tries to
// update it, which is many times cheaper than to make a new one (CUDASTF, section III.B).
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <utility>

#include "starling/machine/machine.hpp"

namespace starling::stf {

// What tells epochs apart at first sight.
struct epoch_summary {
  std::uint64_t tasks = 0;
  std::uint64_t copies = 0;
  friend bool operator==(const epoch_summary&, const epoch_summary&) = default;
};

class graph_cache {
 public:
  struct entry {
    epoch_summary summary;
    std::optional<graph> executable;
  };

  explicit graph_cache(int most) : most_(most < 1 ? 1 : static_cast<std::size_t>(most)) {}

  // The place for this epoch's graph: one of equal summary with a graph, or an empty one; the least recently used goes.
  std::optional<graph>& place_for(const epoch_summary& s) {
    for (auto i = kept_.begin(); i != kept_.end(); ++i) {
      if (!(i->summary == s)) continue;
      kept_.splice(kept_.begin(), kept_, i);
      return kept_.front().executable;
    }
    if (kept_.size() == most_) kept_.pop_back();
    kept_.push_front({s, std::nullopt});
    return kept_.front().executable;
  }

  // All that have a graph, those used last first; none is left.
  std::list<entry> take_all() {
    kept_.remove_if([](const entry& e) { return !e.executable; });
    return std::exchange(kept_, {});
  }

  std::uint64_t epochs = 0;
  std::uint64_t reused = 0;
  std::uint64_t copies_before = 0;  // the epoch that goes on

 private:
  std::size_t most_;
  std::list<entry> kept_;
};

}  // namespace starling::stf
