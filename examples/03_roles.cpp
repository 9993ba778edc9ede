// Roles: one block of every PE talks, the others compute. A heat rod in one dimension with a device-wide barrier a
// step, and a stop that all PEs agree on.
#include <cstdio>

#include "starling/starling.hpp"

namespace st = starling;

int main() try {
  st::machine m = st::machine::best();
  constexpr st::index_t cells = 500;  // of each PE; cells 0 and cells + 1 are the neighbours'
  auto rods = m.allocate<double>(2 * (cells + 2));
  auto signals = m.allocate<st::signal>(2);
  auto totals = m.allocate<int>(1);
  for (int pe = 0; pe < m.size(); ++pe) m.fill(rods.on(pe), 0, 2 * (cells + 2) * sizeof(double));
  const auto rod = rods.view(2, cells + 2);
  const auto from_left = signals.data();
  const auto from_right = signals.data() + 1;
  const auto steps_done = totals.data();

  st::role_plan roles(4);
  const st::role edges = roles.add("edges", 1);
  const st::role middle = roles.add_share("middle", 1.0);

  m.run(
      roles, STARLING_KERNEL(st::block & b) {
        const int left = b.pe() - 1;
        const int right = b.pe() + 1 < b.n_pes() ? b.pe() + 1 : -1;
        int t = 0;
        double change = 1;
        while (t < 2000 && change > 1e-5) {
          ++t;
          const auto now = static_cast<std::uint64_t>(t);
          const auto u = rod.on(b.pe());
          const int in = (t - 1) % 2;
          const int out = t % 2;
          double mine = 0;
          const auto relax = [&](st::index_t i) {
            const double west = b.pe() == 0 && i == 1 ? 1.0 : u(in, i - 1);  // the hot end
            const double east = right < 0 && i == cells ? 0.0 : u(in, i + 1);
            u(out, i) = 0.5 * west + 0.5 * east;
            mine = st::maximum()(mine, u(out, i) > u(in, i) ? u(out, i) - u(in, i) : u(in, i) - u(out, i));
            return u(out, i);
          };
          if (b.role() == edges) {
            if (left >= 0) b.wait(from_left, now - 1, left);
            if (right >= 0) b.wait(from_right, now - 1, right);
            const auto first = [&](st::index_t) { return relax(1); };
            const auto last = [&](st::index_t) { return relax(cells); };
            if (left >= 0) b.put_signal(rod.at(out, cells + 1), first, 1, from_right, now, left);
            if (right >= 0) b.put_signal(rod.at(out, 0), last, 1, from_left, now, right);
            if (left < 0) b.for_each(1, first);
            if (right < 0) b.for_each(1, last);
          }
          if (b.role() == middle) {
            const st::index_range part = b.my_share(cells - 2);
            b.for_each(part, [&](st::index_t i) { relax(2 + i); });
          }
          if (t % 100 == 0)
            change = b.all_reduce(b.reduce(mine, st::maximum()), st::maximum());
          else
            b.sync_pe();
        }
        if (b.index() == 0 && b.member() == 0) *steps_done.on(b.pe()) = t;
      });

  int steps = 0;
  m.copy(&steps, totals.on(0), sizeof steps);
  double hot = 0;
  m.copy(&hot, rod.on(0).data_handle() + steps % 2 * (cells + 2) + 1, sizeof hot);
  std::printf("%d steps on %d PEs, hot end at %.3f\n", steps, m.size(), hot);
  return steps % 100 == 0 && hot > 0.9 && hot < 1 ? 0 : 1;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
