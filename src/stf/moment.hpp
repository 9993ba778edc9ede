// Moments: points in the work of a context that other work can be ordered after. A lane is one stream; its operations
// are counted, by a clock that all lanes of a context share, so a moment is two numbers, costs nothing to make and
// needs no driver event until another lane waits.
#pragma once

#include <cstdint>
#include <vector>

namespace starling::stf {

// Everything that lane `lane` had been given when its count was `number`.
struct moment {
  std::uint32_t lane = 0;
  std::uint64_t number = 0;
};

// What has to be over before something may start: at most one moment of each lane, the latest.
class moment_list {
 public:
  void add(const moment& m) {
    for (moment& mine : all_) {
      if (mine.lane != m.lane) continue;
      if (mine.number < m.number) mine.number = m.number;
      return;
    }
    all_.push_back(m);
  }
  void add(const moment_list& others) {
    for (const moment& m : others) add(m);
  }
  // Keeps its memory.
  void clear() { all_.clear(); }
  bool empty() const { return all_.empty(); }
  std::vector<moment>::const_iterator begin() const { return all_.begin(); }
  std::vector<moment>::const_iterator end() const { return all_.end(); }

 private:
  std::vector<moment> all_;
};

}  // namespace starling::stf
