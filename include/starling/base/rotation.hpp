// rotation: places that pieces of work use in turn, as the buffers of a region are. What a piece does may be tied to
// its place; recorded work keeps the place that it got when it was recorded, and launches have to begin with the same
// one. Thread-safe but for the order of those who take.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>

namespace starling {

class rotation {
 public:
  // `what` says in errors whose places they are. `find` says which is next, where lose() was called before.
  rotation(std::string what, int places, std::function<int()> find)
      : what_(std::move(what)), places_(places), find_(std::move(find)) {}

  const std::string& what() const { return what_; }
  int places() const { return places_; }
  int next() {
    if (lost_.exchange(false)) go_to(find_());
    return next_;
  }
  void go_to(int place) {
    next_ = place % places_;
    lost_ = false;
  }
  // Others have used places.
  void lose() { lost_ = true; }
  // The place of the work that is submitted now.
  int take() {
    const int mine = next();
    go_to(mine + 1);
    return mine;
  }

 private:
  std::string what_;
  int places_;
  std::function<int()> find_;
  std::atomic<int> next_{0};
  std::atomic<bool> lost_{false};
};

}  // namespace starling
