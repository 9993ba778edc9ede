// Data, then a flag: but an atomic operation says nothing about the puts before it. The flag may be seen long before
// the data has come.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 32;

bool run(st::machine& m, bool fixed) {
  auto inbox = m.allocate<int>(n);
  auto sums = gallery::filled(m, 1, 0);
  auto flags = gallery::filled(m, 1, std::uint64_t{0});
  auto signals = gallery::signals(m, 1);
  const auto data = inbox.data();
  const auto sum = sums.data();
  const auto flag = flags.data();
  const auto arrived = signals.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int right = (b.pe() + 1) % b.n_pes();
        const auto value = [&](st::index_t i) { return b.pe() * 100 + static_cast<int>(i); };
        if (fixed) {
          b.put_signal(data, value, n, arrived, 1, right);
          b.wait(arrived, 1);
        } else {
          b.put(data, value, n, right);
          b.atomic_set(flag, 1, right);  // wrong: relaxed, so the data may come after it
          while (b.atomic_fetch(flag, b.pe()) == 0) {
          }
        }
        int total = 0;
        for (st::index_t i = 0; i < n; ++i) total += data.on(b.pe())[i];
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
  return gallery::show(argc, argv, {{st::defect::unordered_read}, "wait for the signal that covers this put"}, run);
}
