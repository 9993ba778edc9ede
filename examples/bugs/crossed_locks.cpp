// Each PE takes its own lock first and then its neighbour's: at some point all hold one and want the next.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto words = gallery::filled(m, 1, 0);
  auto counts = gallery::filled(m, 1, 0);
  const auto lock = words.data();
  const auto count = counts.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        if (b.member() > 0) return;
        const auto t = b.thread();
        const int right = (b.pe() + 1) % b.n_pes();
        const auto take = [&](int pe) {
          while (t.atomic_compare_swap(lock, 0, 1, pe, cuda::memory_order_acquire) != 0) {
          }
        };
        const bool lower_first = b.pe() < right;
        take(fixed && !lower_first ? right : b.pe());  // wrong: not in one order on all PEs
        take(fixed && !lower_first ? b.pe() : right);
        for (const int pe : {b.pe(), right}) t.p(count, t.g(count, pe) + 1, pe);
        for (const int pe : {right, b.pe()}) t.atomic_set(lock, 0, pe, cuda::memory_order_release);
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (counts.on(pe)[0] != 2) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::deadlock}, "take locks in one order"}, run);
}
