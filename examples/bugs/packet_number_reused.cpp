// A packet is taken by its number. Two messages with the same number cannot be told apart: the receiver takes the first
// again and leaves the second, or the second replaces the first before it is taken.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 4;  // packets
constexpr int messages = 3;

bool run(st::machine& m, bool fixed) {
  auto mails = gallery::filled(m, 2 * n, st::packet{});
  auto outcomes = gallery::filled(m, messages, 0.0);
  const auto mail = mails.data();
  const auto outcome = outcomes.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int other = 1 - b.pe();
        for (int k = 1; k <= messages; ++k) {
          const std::uint64_t number = fixed ? static_cast<std::uint64_t>(k) : 1;  // wrong: 1 each time
          const auto slot = mail + k % 2 * n;
          const auto content = [&](st::index_t i) {
            return st::packet_content<double>{{static_cast<double>(k * 10 + i)}};
          };
          b.put_packets<double>(slot, content, n, number, other);
          double mine = 0;
          b.for_each(
              n, [&](st::index_t i) { mine += b.thread().take_packet<double>(slot + i, number, other).element[0]; });
          const double total = b.reduce(mine, st::plus{});
          if (b.member() == 0) outcome.on(b.pe())[k - 1] = total;
        }
      });
  for (int pe = 0; pe < m.size(); ++pe)
    for (int k = 1; k <= messages; ++k)
      if (outcomes.on(pe)[k - 1] != static_cast<double>(n * k * 10 + n * (n - 1) / 2)) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(
      argc, argv, {{st::defect::unordered_read, st::defect::unordered_write}, "a wait cannot tell the two apart", 2},
      run);
}
