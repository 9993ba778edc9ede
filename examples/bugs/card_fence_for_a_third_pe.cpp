// fence orders what goes to one PE, queue by queue: it does not say that anything has arrived. Who tells a third PE, on
// another host, that the data is there has to be sure of it first.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 16;

bool run(st::machine& m, bool fixed) {
  auto buffers = gallery::filled(m, n, 7);
  auto inboxes = m.allocate<int>(n);
  auto flags = gallery::signals(m, 1);
  auto sums = gallery::filled(m, 1, 0);
  const auto buffer = buffers.data();
  const auto inbox = inboxes.data();
  const auto came = flags.data();
  const auto sum = sums.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        if (b.pe() == 0) {  // puts to 1, and tells 2, which tells 1
          b.put_nbi(inbox, buffer.on(0), n, 1);
          if (fixed)
            b.quiet();
          else
            b.fence();  // wrong: the put is to PE 1, the signal to PE 2
          b.signal_set(came, 1, 2);
        } else if (b.pe() == 2) {
          b.wait(came, 1, 0);
          b.signal_set(came, 1, 1);
        } else {
          b.wait(came, 1, 2);
          int total = 0;
          for (st::index_t i = 0; i < n; ++i) total += inbox.on(1)[i];
          if (b.member() == 0) *sum.on(1) = total;
        }
        b.quiet();
      });
  return *sums.on(1) == 7 * n;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_read}, "card_fence_for_a_third_pe.cpp", 3, {0, 1, 2}}, run);
}
