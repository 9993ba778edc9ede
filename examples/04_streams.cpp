// The host in control: plain launches, copies between devices, events that order them, and a graph of it all that is
// launched many times. Means the same on GPUs and on virtual devices.
#include <cstdio>
#include <vector>

#include "starling/starling.hpp"

namespace st = starling;

int main() try {
  st::machine m = st::machine::best();
  constexpr st::index_t n = 1000;
  auto values = m.allocate<double>(n);
  auto incoming = m.allocate<double>(n);
  for (int pe = 0; pe < m.size(); ++pe) m.fill(values.on(pe), 0, n * sizeof(double));
  std::vector<st::stream> streams;
  std::vector<st::event> done;
  for (int pe = 0; pe < m.size(); ++pe) {
    streams.push_back(m.new_stream(pe));
    done.push_back(m.new_event(pe));
  }
  st::event start = m.new_event(0);

  // Every PE adds 1 to its values; PE 0 then gathers all of them in turn.
  const auto value = values.data();
  const auto arrived = incoming.data();
  const st::graph round = m.record(streams[0], [&] {
    streams[0].record(start);
    for (int pe = 0; pe < m.size(); ++pe) {
      st::stream& s = streams[static_cast<std::size_t>(pe)];
      if (pe > 0) s.wait(start);
      s.launch(
          4, STARLING_KERNEL(st::block & b) {
            b.for_each(b.my_share(n), [&](st::index_t i) { value.on(b.pe())[i] += 1; });
          });
      s.record(done[static_cast<std::size_t>(pe)]);
    }
    for (int pe = 1; pe < m.size(); ++pe) {
      streams[0].wait(done[static_cast<std::size_t>(pe)]);
      streams[0].copy(incoming.on(0), values.on(pe), n * sizeof(double));
      streams[0].launch(
          4, STARLING_KERNEL(st::block & b) {
            b.for_each(b.my_share(n), [&](st::index_t i) { value.on(0)[i] += arrived.on(0)[i]; });
          });
    }
  });
  constexpr int rounds = 5;
  for (int i = 0; i < rounds; ++i) round.launch(streams[0]);
  streams[0].synchronize();

  // PE p > 0 holds i after i rounds; PE 0 adds 1 and all of those in every round.
  double expected = 0;
  for (int i = 1; i <= rounds; ++i) expected += 1 + (m.size() - 1) * i;
  std::vector<double> got(n);
  m.copy(got.data(), values.on(0), n * sizeof(double));
  for (const double x : got)
    if (x != expected) return 1;
  std::printf("%d rounds of a graph over %d PEs: %g\n", rounds, m.size(), expected);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
