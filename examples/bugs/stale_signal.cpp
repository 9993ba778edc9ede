// The program runs twice. The signal still holds what the first run left in it, so the wait of the second run passes
// before anything has been sent.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 16;

bool run(st::machine& m, bool fixed) {
  auto inboxes = m.allocate<int>(n);
  auto sums = gallery::filled(m, 1, 0);
  auto signals = gallery::signals(m, 1);
  const auto inbox = inboxes.data();
  const auto sum = sums.data();
  const auto arrived = signals.data();
  for (int call = 1; call <= 2; ++call) {
    const std::uint64_t number = fixed ? static_cast<std::uint64_t>(call) : 1;  // wrong: 1 has come already
    m.run(
        1, STARLING_KERNEL(st::block & b) {
          const int right = (b.pe() + 1) % b.n_pes();
          const auto value = [&](st::index_t i) { return call * 1000 + b.pe() * 100 + static_cast<int>(i); };
          b.put_signal(inbox, value, n, arrived, number, right);
          b.wait(arrived, number);
          int total = 0;
          for (st::index_t i = 0; i < n; ++i) total += inbox.on(b.pe())[i];
          if (b.member() == 0) *sum.on(b.pe()) = total;
        });
    for (int pe = 0; pe < m.size(); ++pe) {
      const int left = (pe + m.size() - 1) % m.size();
      if (*sums.on(pe) != n * (call * 1000 + left * 100) + n * (n - 1) / 2) return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_read, st::defect::unordered_write}, "held before the run"},
                       run);
}
