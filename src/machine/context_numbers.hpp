// The numbers of the contexts that a block has opened: 0 is there without being opened, a closed number is given again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace starling {

// All contexts of a block.
inline constexpr int any_context = -1;

class context_numbers {
 public:
  int open() {
    const auto gap = std::find(open_.begin(), open_.end(), false);
    const auto number = static_cast<int>(gap - open_.begin()) + 1;
    if (gap == open_.end())
      open_.push_back(true);
    else
      *gap = true;
    return number;
  }
  void close(int context) { open_[static_cast<std::size_t>(context) - 1] = false; }
  bool none_open() const {
    return std::none_of(open_.begin(), open_.end(), [](bool o) { return o; });
  }

 private:
  std::vector<bool> open_;  // from context 1 on
};

}  // namespace starling
