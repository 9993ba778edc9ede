// What a card writes lands in any order. The signal of put_signal covers its own data; one that is raised by a call of
// its own covers what was fenced before, and no other put.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 16;

bool run(st::machine& m, bool fixed) {
  auto buffers = m.allocate<int>(n);
  auto inboxes = m.allocate<int>(n);
  auto flags = gallery::signals(m, 1);
  auto sums = gallery::filled(m, 1, 0);
  const auto buffer = buffers.data();
  const auto inbox = inboxes.data();
  const auto came = flags.data();
  const auto sum = sums.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int across = (b.pe() + 2) % b.n_pes();  // on the other host
        int* mine = buffer.on(b.pe());
        b.for_each(n, [&](st::index_t i) { mine[i] = 100 * b.pe() + static_cast<int>(i); });
        b.sync();
        b.put_nbi(inbox, mine, n, across);
        if (fixed) b.fence();  // wrong without: the signal may be there first
        b.signal_set(came, 1, across);
        b.wait(came, 1, across);
        int total = 0;
        for (st::index_t i = 0; i < n; ++i) total += inbox.on(b.pe())[i];
        if (b.member() == 0) *sum.on(b.pe()) = total;
        b.quiet();
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (*sums.on(pe) != n * 100 * ((pe + 2) % m.size()) + n * (n - 1) / 2) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(
      argc, argv, {{st::defect::unordered_read}, "wait for the signal that covers this put", 4, {0, 0, 1, 1}}, run);
}
