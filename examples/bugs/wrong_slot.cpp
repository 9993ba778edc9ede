// Two slots, each with a signal of its own. The receiver reads one and waits for the other.
#include "gallery.hpp"

namespace {

constexpr int messages = 4;
constexpr st::index_t n = 8;

bool run(st::machine& m, bool fixed) {
  auto slots = gallery::filled(m, 2 * n, -1);
  auto sums = gallery::filled(m, 1, 0);
  auto signals = gallery::signals(m, 3);
  const auto slot = slots.data();
  const auto sum = sums.data();
  const auto full = signals.data();       // [slot] the last message in it
  const auto taken = signals.data() + 2;  // messages that the receiver has read
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        int total = 0;
        for (int k = 1; k <= messages; ++k) {
          const auto number = static_cast<std::uint64_t>(k);
          const auto value = [&](st::index_t i) { return k * static_cast<int>(i); };
          if (b.pe() == 0) {
            if (k > 2) b.wait(taken, number - 2, 1);
            b.put_signal(slot + k % 2 * n, value, n, full + k % 2, number, 1);
          } else {
            if (fixed)
              b.wait(full + k % 2, number, 0);
            else
              b.wait(full + (k + 1) % 2, k > 1 ? number - 1 : 0, 0);  // wrong: the signal of the slot before
            for (st::index_t i = 0; i < n; ++i) total += slot.on(1)[k % 2 * n + i];
            b.signal_set(taken, number, 0);
          }
        }
        if (b.pe() == 1 && b.member() == 0) *sum.on(1) = total;
      });
  return *sums.on(1) == messages * (messages + 1) / 2 * static_cast<int>(n * (n - 1) / 2);
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_read, st::defect::unordered_write}, "wait for", 2}, run);
}
