#include "comm/measure.hpp"

#include <algorithm>

#include "comm/exchange.hpp"

namespace starling::comm {
namespace {

// Packets take twice the memory and the time of large messages: beyond this nobody would send them.
constexpr index_t longest_by_packets = index_t{1} << 20;

class bench {
 public:
  bench(machine& m, const bench_options& o, const std::function<void(const measurement&)>& told)
      : machine_(m), options_(completed(o, m)), told_(told), gpu_(m.kind() == machine_kind::cuda) {}

  std::vector<measurement> all() {
    for (const auto& [from, to] : options_.pairs)
      for (const way w : options_.ways)
        for (const index_t bytes : options_.bytes)
          for (const measure of : {measure::latency, measure::stream}) message_between(from, to, w, bytes, of);
    if (options_.meetings) meetings();
    return std::move(results_);
  }

 private:
  void message_between(int from, int to, way w, index_t bytes, measure of) {
    if (w == way::packets && bytes > longest_by_packets) return;
    exchange_plan p;
    p.how = w;
    p.answered = of == measure::latency;
    p.from = from;
    p.to = to;
    p.blocks = p.answered || by_host(w) ? 1 : static_cast<int>(std::min<index_t>(options_.blocks, bytes / 8));
    p.threads = bytes / p.blocks <= 512 ? 64 : bytes / p.blocks <= 4096 ? 256 : 1024;
    p.bytes = bytes;
    p.iterations = iterations(p);
    p.repetitions = options_.repetitions;
    const std::vector<double> us = by_host(w) ? host_copies(machine_, p) : exchange(machine_, p);
    keep({name(w), of, from, to, bytes, p.blocks, by_host(w) ? 0 : p.threads, p.iterations, us});
  }

  // As many as last about the wanted time, by a rough guess of the time of one.
  index_t iterations(const exchange_plan& p) const {
    const double gb_per_s = !gpu_                     ? 1
                            : p.how == way::scattered ? 2.0 * p.blocks
                            : by_host(p.how)          ? 50
                                                      : 20.0 * p.blocks;
    const double start_us = !gpu_ ? 30 : by_host(p.how) ? 12 : p.how == way::packets ? 1 : 2;
    return times(start_us + static_cast<double>(p.bytes) / gb_per_s / 1e3);
  }
  index_t times(double us) const {
    constexpr double most = 100'000;
    return static_cast<index_t>(std::clamp(1e6 * options_.seconds / us, 4.0, most));
  }

  void meetings() {
    const struct {
      meeting what;
      const char* name;
    } kinds[] = {{meeting::sync_pe, "sync_pe"}, {meeting::sync_all, "sync_all"}, {meeting::all_reduce, "all_reduce"}};
    for (const auto& kind : kinds)
      for (const int blocks : {1, gpu_ ? 16 : 2}) {
        const int threads = 256;
        const index_t n = times(gpu_ ? 3 : 50.0 * blocks * machine_.size());
        keep({kind.name, measure::call, -1, -1, kind.what == meeting::all_reduce ? 16 : 0, blocks, threads, n,
              meet(machine_, kind.what, blocks, threads, n, options_.repetitions)});
      }
    const index_t n = std::min<index_t>(times(gpu_ ? 20 : 200), 100);
    keep({"empty program", measure::call, -1, -1, 0, 1, 256, n, empty_program(machine_, n, options_.repetitions)});
  }

  void keep(measurement r) {
    if (told_) told_(r);
    results_.push_back(std::move(r));
  }

  machine& machine_;
  bench_options options_;
  const std::function<void(const measurement&)>& told_;
  bool gpu_;
  std::vector<measurement> results_;
};

}  // namespace

std::vector<measurement> measure_all(machine& m, const bench_options& o,
                                     const std::function<void(const measurement&)>& told) {
  return bench(m, o, told).all();
}

}  // namespace starling::comm
