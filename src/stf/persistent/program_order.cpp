#include "program_order.hpp"

#include <algorithm>
#include <cstdint>

namespace starling::stf {
namespace {

bool conflict(const operation_access& a, const operation_access& b) {
  return (a.writes || b.writes) && a.start < b.start + b.bytes && b.start < a.start + a.bytes;
}

bool conflict(const program_operation& a, const program_operation& b) {
  for (const operation_access& x : a.accesses)
    for (const operation_access& y : b.accesses)
      if (conflict(x, y)) return true;
  return false;
}

// Of two rounds of one task: every operation of the later round comes after all of the earlier.
bool in_whole_rounds(const program_operation& a) {
  return std::any_of(a.accesses.begin(), a.accesses.end(),
                     [](const operation_access& x) { return x.whole_task && x.writes; });
}

// What comes before an operation, a bit each.
class operation_set {
 public:
  explicit operation_set(std::size_t n) : words_((n + 63) / 64) {}
  bool has(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void add(const operation_set& s) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= s.words_[i];
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace

// Two rounds show all there is: what an operation does to one two rounds later follows, since a writer waits for
// itself.
std::vector<program_edge> order_operations(const std::vector<program_operation>& operations) {
  const std::size_t n = operations.size();
  std::vector<operation_set> before(2 * n, operation_set(2 * n));
  std::vector<program_edge> edges;
  for (std::size_t later = 0; later < 2 * n; ++later) {
    const program_operation& b = operations[later % n];
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
      const program_operation& a = operations[earlier % n];
      const bool same_round = earlier / n == later / n;
      if (same_round && a.task == b.task) {
        if (std::find(b.after.begin(), b.after.end(), static_cast<int>(earlier % n)) != b.after.end())
          wait_for(earlier);
      } else if (conflict(a, b)) {
        wait_for(earlier);
      }
    }
    // Those of its own task that are further back than itself, if nothing else waits for them.
    for (std::size_t earlier = first; earlier-- > 0 && in_whole_rounds(b) && operations[earlier].task == b.task;)
      wait_for(earlier);
  }
  return edges;
}

}  // namespace starling::stf
