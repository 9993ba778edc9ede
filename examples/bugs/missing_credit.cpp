// A one-way pipeline with two slots a stage. The sender needs to hear that a slot has been read before it writes the
// slot again; a receiver that is slow is overtaken.
#include "gallery.hpp"

namespace {

constexpr int items = 6;
constexpr st::index_t width = 16;

bool run(st::machine& m, bool fixed) {
  auto slots = m.allocate<int>(2 * width);
  auto results = gallery::filled(m, items, 0);
  auto signals = gallery::signals(m, 2);
  const auto slot = slots.data();
  const auto result = results.data();
  const auto full = signals.data();       // items that have arrived here
  const auto empty = signals.data() + 1;  // items that the next stage has read
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const bool first = b.pe() == 0;
        const bool last = b.pe() == b.n_pes() - 1;
        for (int item = 1; item <= items; ++item) {
          const auto number = static_cast<std::uint64_t>(item);
          const st::index_t at = item % 2 * width;
          const int* in = slot.on(b.pe()) + at;
          if (!first) b.wait(full, number, b.pe() - 1);
          const auto value = [&](st::index_t i) { return (first ? item * static_cast<int>(i) : in[i]) + 1; };
          if (last) {
            if (b.member() == 0) result.on(b.pe())[item - 1] = value(width - 1);
            b.sync();
          } else {
            // Wrong without: the next stage may still read item - 2 from the same slot.
            if (fixed && item > 2) b.wait(empty, number - 2, b.pe() + 1);
            b.put_signal(slot + at, value, width, full, number, b.pe() + 1);
          }
          if (!first) b.signal_set(empty, number, b.pe() - 1);
        }
      });
  for (int item = 1; item <= items; ++item)
    if (results.on(m.size() - 1)[item - 1] != item * static_cast<int>(width - 1) + m.size()) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_write}, "a credit", 3}, run);
}
