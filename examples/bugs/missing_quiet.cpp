// put_nbi returns before it has read its source. Who fills the buffer again at once sends the new values in place of
// the old ones.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 16;

bool run(st::machine& m, bool fixed) {
  auto buffers = m.allocate<int>(n);
  auto inboxes = m.allocate<int>(2 * n);
  const auto buffer = buffers.data();
  const auto inbox = inboxes.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        int* mine = buffer.on(b.pe());
        for (int round = 0; round < 2; ++round) {
          b.for_each(n, [&](st::index_t i) { mine[i] = round * 1000 + static_cast<int>(i); });
          b.sync();
          b.put_nbi(inbox + round * n, mine, n, right);
          if (fixed) b.quiet();  // wrong without: the next round fills `mine` while it is still being sent
        }
        b.barrier_all();
      });
  for (int pe = 0; pe < m.size(); ++pe)
    for (int round = 0; round < 2; ++round)
      for (int i = 0; i < n; ++i)
        if (inboxes.on(pe)[round * n + i] != round * 1000 + i) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::source_reused}, "call quiet() before the bytes are touched again"},
                       run);
}
