// ptr gives the address of another PE's copy, where there is one: behind a network card it is null, and the data has to
// be put. A signal comes after the stores before it, but not after a put, unless that is fenced.
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
        const int right = (b.pe() + 1) % b.n_pes();  // on the own host, or on the other
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        int* mine = buffer.on(b.pe());
        b.for_each(n, [&](st::index_t i) { mine[i] = 100 * b.pe() + static_cast<int>(i); });
        b.sync();
        if (int* there = b.ptr(inbox, right)) {
          b.for_each(n, [&](st::index_t i) { there[i] = mine[i]; });
          b.sync();
        } else {
          b.put(inbox, mine, n, right);
          if (fixed) b.fence();  // wrong without: what is enough for stores is not for puts
        }
        b.signal_set(came, 1, right);
        b.wait(came, 1, left);
        int total = 0;
        for (st::index_t i = 0; i < n; ++i) total += inbox.on(b.pe())[i];
        if (b.member() == 0) *sum.on(b.pe()) = total;
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (*sums.on(pe) != n * 100 * ((pe + m.size() - 1) % m.size()) + n * (n - 1) / 2) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(
      argc, argv, {{st::defect::unordered_read}, "wait for the signal that covers this put", 4, {0, 0, 1, 1}}, run);
}
