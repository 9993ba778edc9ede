#include "program_order.hpp"

#include <algorithm>
#include <cstdint>

namespace starling::stf {
namespace {

bool conflict(const item_access& a, const item_access& b) {
  return (a.writes || b.writes) && a.start < b.start + b.bytes && b.start < a.start + a.bytes;
}

bool conflict(const noted_item& a, const noted_item& b) {
  for (const item_access& x : a.accesses)
    for (const item_access& y : b.accesses)
      if (conflict(x, y)) return true;
  return false;
}

// Of two rounds of one task: every item of the later round comes after all of the earlier.
bool in_whole_rounds(const noted_item& a) {
  return std::any_of(a.accesses.begin(), a.accesses.end(),
                     [](const item_access& x) { return x.whole_task && x.writes; });
}

// What comes before an item, a bit each.
class item_set {
 public:
  explicit item_set(std::size_t n) : words_((n + 63) / 64) {}
  bool has(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void add(const item_set& s) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= s.words_[i];
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace

// Two rounds show all there is: what an item does to one two rounds later follows, since a writer waits for itself.
std::vector<program_edge> order_items(const std::vector<noted_item>& items) {
  const std::size_t n = items.size();
  std::vector<item_set> before(2 * n, item_set(2 * n));
  std::vector<program_edge> edges;
  for (std::size_t later = 0; later < 2 * n; ++later) {
    const noted_item& b = items[later % n];
    const auto wait_for = [&](std::size_t earlier) {
      if (before[later].has(earlier)) return;
      before[later].add(before[earlier]);
      before[later].add(earlier);
      if (later >= n)
        edges.push_back({static_cast<int>(earlier % n), static_cast<int>(later % n), earlier < n ? 1 : 0});
    };
    // The nearest first: what they wait for follows.
    const std::size_t first = later >= n ? later - n : 0;
    for (std::size_t earlier = later; earlier-- > first;) {
      const noted_item& a = items[earlier % n];
      const bool same_round = earlier / n == later / n;
      if (same_round && a.task == b.task) {
        if (std::find(b.after.begin(), b.after.end(), static_cast<int>(earlier % n)) != b.after.end())
          wait_for(earlier);
      } else if (conflict(a, b)) {
        wait_for(earlier);
      }
    }
    // Those of its own task that are further back than itself, if nothing else waits for them.
    for (std::size_t earlier = first; earlier-- > 0 && in_whole_rounds(b) && items[earlier].task == b.task;)
      wait_for(earlier);
  }
  return edges;
}

}  // namespace starling::stf
