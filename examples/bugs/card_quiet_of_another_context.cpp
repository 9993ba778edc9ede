// Each context has a queue of its own to every PE behind a network card, and quiet of one says nothing of the others:
// the card may still be reading what was put by another.
#include "gallery.hpp"
#include "starling/shmem/context.hpp"

namespace shmem = starling::shmem;

namespace {

constexpr st::index_t n = 16;

bool run(st::machine& m, bool fixed) {
  auto buffers = m.allocate<int>(n);
  auto inboxes = m.allocate<int>(2 * n);
  const auto buffer = buffers.data();
  const auto inbox = inboxes.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int across = (b.pe() + 2) % b.n_pes();  // on the other host
        int* mine = buffer.on(b.pe());
        const shmem::context data(b);
        const shmem::context other(b);
        for (int round = 0; round < 2; ++round) {
          b.for_each(n, [&](st::index_t i) { mine[i] = round * 1000 + static_cast<int>(i); });
          b.sync();
          data.put_nbi(inbox + round * n, mine, n, across);
          if (fixed)
            data.quiet();
          else
            other.quiet();  // wrong: the put is one of `data`
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
  return gallery::show(
      argc, argv, {{st::defect::source_reused}, "call quiet() before the bytes are touched again", 4, {0, 0, 1, 1}},
      run);
}
