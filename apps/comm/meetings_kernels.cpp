#include <chrono>

#include "comm/exchange.hpp"
#include "comm/stopwatch.hpp"

namespace starling::comm {
namespace {

struct two_doubles {
  double a, b;
};
struct add_both {
  STARLING_HD two_doubles operator()(const two_doubles& x, const two_doubles& y) const {
    return {x.a + y.a, x.b + y.b};
  }
};

template <meeting What>
struct meeting_kernel {
  index_t iterations;
  int repetitions;
  lap_writer laps;

  STARLING_HD void operator()(block& b) const {
    two_doubles v{1.0 + b.pe(), 1.0};
    for (int r = -1; r < repetitions; ++r) {
      b.sync_all();
      if (b.index() == 0) laps.begin(b, 0, r);
      const index_t times = r < 0 ? iterations / 8 + 1 : iterations;
      for (index_t t = 0; t < times; ++t) {
        if constexpr (What == meeting::sync_pe) b.sync_pe();
        if constexpr (What == meeting::sync_all) b.sync_all();
        if constexpr (What == meeting::all_reduce)
          v = b.all_reduce(two_doubles{v.a / (b.n_pes() * b.blocks_per_pe()), 1.0}, add_both{});
      }
      if (b.index() == 0) laps.end(b, 0, r);
    }
  }
};

template <meeting What>
std::vector<double> meet_by(machine& m, int blocks, int threads, index_t iterations, int repetitions) {
  const stopwatch watch(m, 1, repetitions);
  m.run(blocks, meeting_kernel<What>{iterations, repetitions, watch.writer()}, {.threads = threads});
  return watch.us(0, static_cast<double>(iterations));
}

}  // namespace

std::vector<double> meet(machine& m, meeting what, int blocks, int threads, index_t iterations, int repetitions) {
  switch (what) {
    case meeting::sync_pe:
      return meet_by<meeting::sync_pe>(m, blocks, threads, iterations, repetitions);
    case meeting::sync_all:
      return meet_by<meeting::sync_all>(m, blocks, threads, iterations, repetitions);
    case meeting::all_reduce:
      return meet_by<meeting::all_reduce>(m, blocks, threads, iterations, repetitions);
  }
  return {};
}

std::vector<double> empty_program(machine& m, index_t iterations, int repetitions) {
  std::vector<double> us;
  for (int r = -1; r < repetitions; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (index_t i = 0; i < iterations; ++i) m.run(1, STARLING_KERNEL(block&){});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (r >= 0) us.push_back(m.agree(1e6 * seconds / static_cast<double>(iterations)));
  }
  return us;
}

}  // namespace starling::comm
