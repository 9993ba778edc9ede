// A lock of atomic operations that order nothing: the next holder may read a counter that is not there yet.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto words = gallery::filled(m, 2, 0);
  const auto lock = words.data();
  const auto counter = words.data() + 1;
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        if (b.member() > 0) return;
        const auto t = b.thread();
        // Wrong: relaxed, as by default. Fences around it do not change that.
        const auto take = fixed ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
        const auto give = fixed ? cuda::memory_order_release : cuda::memory_order_relaxed;
        while (t.atomic_compare_swap(lock, 0, 1, 0, take) != 0) {
        }
        t.p(counter, t.g(counter, 0) + 1, 0);
        t.atomic_set(lock, 0, 0, give);
      });
  return words.on(0)[1] == m.size();
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_read, st::defect::unordered_write}, "nothing orders"}, run);
}
