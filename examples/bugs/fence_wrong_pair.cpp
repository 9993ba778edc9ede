// Two puts and a signal for both. The fence stands between the puts, which need no order, and not between the second
// put and the signal.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 16;

bool run(st::machine& m, bool fixed) {
  auto heads = m.allocate<int>(1);
  auto bodies = m.allocate<int>(n);
  auto sums = gallery::filled(m, 1, 0);
  auto signals = gallery::signals(m, 1);
  const auto head = heads.data();
  const auto body = bodies.data();
  const auto sum = sums.data();
  const auto arrived = signals.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        const auto value = [&](st::index_t i) { return b.pe() * 100 + static_cast<int>(i); };
        b.p(head, static_cast<int>(n), right);
        if (!fixed) b.fence();  // wrong: orders the head before the body
        b.put(body, value, n, right);
        if (fixed) b.fence();  // orders both before the signal
        b.signal_set(arrived, 1, right);
        b.wait(arrived, 1);
        int total = 0;
        for (int i = 0; i < *head.on(b.pe()); ++i) total += body.on(b.pe())[i];
        if (b.member() == 0) *sum.on(b.pe()) = total;
      });
  for (int pe = 0; pe < m.size(); ++pe) {
    const int left = (pe + m.size() - 1) % m.size();
    if (*sums.on(pe) != n * left * 100 + n * (n - 1) / 2) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_read}, "what was fenced before, no other put"}, run);
}
