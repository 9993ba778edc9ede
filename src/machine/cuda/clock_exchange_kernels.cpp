#include "clock_exchange.hpp"

namespace starling::on_cuda {
namespace {

constexpr int rounds = 48;

struct exchange {
  clock_exchange x;

  STARLING_HD void operator()(block& b) const {
    if (b.member() != 0) return;
    clock_reading mine;
    mine.first = target::now_ns();
    const std::uint64_t ticks = target::ticks();
    mine.resolution = smallest_step();
    const thread self = b.thread();
    if (b.pe() == 0)
      for (int other = 1; other < b.n_pes(); ++other) x.of_others.on(0)[other] = ask(self, other);
    else
      answer(self);
    mine.ticks = target::ticks() - ticks;
    mine.last = target::now_ns();
    *x.own.on(b.pe()) = mine;
  }

  STARLING_HD static std::uint64_t message(int other, int round) {
    return static_cast<std::uint64_t>(other * rounds + round + 1);
  }

  STARLING_HD void send(const thread& self, std::uint64_t content, std::uint64_t number, int pe) const {
    self.put_packets<std::uint64_t>(
        x.receive_slot, [=](index_t) { return packet_content<std::uint64_t>{{content}}; }, 1, number, pe);
  }

  // The other's answer lies between the two readings, so half of their distance bounds the error.
  STARLING_HD clock_reading ask(const thread& self, int other) const {
    clock_reading best;
    std::uint64_t quickest = ~std::uint64_t{0};
    for (int i = 0; i < rounds; ++i) {
      const std::uint64_t before = target::now_ns();
      send(self, 0, message(other, i), other);
      const std::uint64_t theirs = self.take_packet<std::uint64_t>(x.receive_slot, message(other, i), other).element[0];
      const std::uint64_t took = target::now_ns() - before;
      if (took >= quickest) continue;
      quickest = took;
      best.offset = static_cast<std::int64_t>(theirs - (before + took / 2));
      best.error = static_cast<std::int64_t>((took + 1) / 2);
    }
    return best;
  }

  STARLING_HD void answer(const thread& self) const {
    for (int i = 0; i < rounds; ++i) {
      (void)self.take_packet<std::uint64_t>(x.receive_slot, message(self.pe(), i), 0);
      send(self, target::now_ns(), message(self.pe(), i), 0);
    }
  }

  STARLING_HD static std::uint64_t smallest_step() {
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t before = target::now_ns();
    for (int steps = 0, reads = 0; steps < 16 && reads < 4096; ++reads) {
      const std::uint64_t now = target::now_ns();
      if (now == before) continue;
      if (now - before < least) least = now - before;
      before = now;
      ++steps;
    }
    return least == ~std::uint64_t{0} ? 0 : least;
  }
};

}  // namespace

kernel clock_exchange_kernel(const clock_exchange& x) { return make_kernel(exchange{x}); }

}  // namespace starling::on_cuda
