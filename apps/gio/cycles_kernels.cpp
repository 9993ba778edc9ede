#include "gio/measure.hpp"
#include "starling/base/error.hpp"

namespace starling::gio {
namespace {

// Notes when the entry is written.
class timed_bus : public network::gpu_bus {
 public:
  using network::gpu_bus::gpu_bus;
  STARLING_HD void release() const {
    if (written_ == 0) written_ = target::ticks();
    network::gpu_bus::release();
  }
  STARLING_HD std::uint64_t written() const { return written_; }

 private:
  mutable std::uint64_t written_ = 0;
};

// Of the queue to PE 1, which is open and idle. Only the block's first thread posts.
STARLING_HD post_cycles least_of_posts(const block& b, sym<std::uint64_t> x, int posts, bool whole) {
  post_cycles best{~std::uint64_t{0}, ~std::uint64_t{0}};
  if constexpr (target::on_gpu) {
    const int place = network::place_of(network::network_of_block(), 0, 1);
    const network::queue_pair& q = network::network_of_block().pair[place];
    for (int t = 0; t < posts && b.member() == 0; ++t) {
      timed_bus bus(b.state(), b.index(), place, operation::put, where::current());
      network::order o = network::template_of(q.number, q.at_peer.key);
      o.what = network::opcode::write;
      o.carries = true;
      o.bytes = sizeof(std::uint64_t);
      o.remote = reinterpret_cast<std::uintptr_t>(x.on(1));
      if (whole)
        for (std::uint32_t i = 0; i < q.depth; ++i) q.kept[i] = network::unlike_others;
      const network::sender<timed_bus> send(q, bus);
      const std::uint64_t start = target::ticks();
      const std::uint64_t end = send.post(&o, 1);
      const std::uint64_t all = target::ticks() - start;
      if (end == 0 || !send.wait(end)) break;
      if (bus.written() - start < best.to_entry) best.to_entry = bus.written() - start;
      if (all < best.to_doorbell) best.to_doorbell = all;
    }
  }
  return best;
}

}  // namespace

post_cycles cycles_of_posts(machine& m, bool whole, int posts) {
  expect<unsupported_error>(m.kind() == machine_kind::cuda,
                            "cycles of a post are those of a GPU's thread, and these are virtual devices; measure them "
                            "on a GPU whose two PEs are on two hosts");
  auto words = m.allocate<std::uint64_t>(1);
  auto counts = m.allocate<post_cycles>(1);
  const auto x = words.data();
  const auto least = counts.data();
  m.run(1,
        STARLING_KERNEL(block & b) {
          if (b.pe() != 0) return;
          const std::uint64_t value = 1;
          b.put_nbi(x, &value, 1, 1);
          b.quiet();
          const post_cycles best = least_of_posts(b, x, posts, whole);
          if (b.member() == 0) *least.on(0) = best;
        },
        {.threads = 32});
  post_cycles found{};
  m.copy(&found, counts.on(0), sizeof found);
  return found;
}

}  // namespace starling::gio
