#include <chrono>

#include "comm/exchange.hpp"

namespace starling::comm {

// Latency: a copy and the wait for its end. Stream: copies that follow one another, and one wait at the end.
std::vector<double> host_copies(machine& m, const exchange_plan& p) {
  const auto bytes = static_cast<std::size_t>(p.bytes);
  const auto source = m.allocate<char>(p.bytes);
  const auto dest = m.allocate<char>(p.bytes);
  m.fill(source.on(p.from), 0x22, bytes);
  const bool staged = p.how == way::staged;
  local_memory between;
  if (staged) between = m.allocate_on(host_place, bytes);
  stream out = m.new_stream(p.from);
  const auto copy = [&] {
    if (staged) {
      out.copy(between.data(), source.on(p.from), bytes);
      out.copy(dest.on(p.to), between.data(), bytes);
    } else {
      out.copy(dest.on(p.to), source.on(p.from), bytes);
    }
  };
  std::vector<double> us;
  for (int r = -1; r < p.repetitions; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (index_t i = 0; i < p.iterations; ++i) {
      copy();
      if (p.answered) out.synchronize();
    }
    out.synchronize();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (r >= 0) us.push_back(1e6 * seconds / static_cast<double>(p.iterations));
  }
  return us;
}

}  // namespace starling::comm
