// Latency of the device-side communication calls, by ping-pong inside one persistent program: time per one-way put with
// signal by size, per sync_all, per all_reduce of two doubles. Prints one JSON object a line.
//
//   latency [devices] [repetitions] [iterations]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "starling/starling.hpp"

namespace st = starling;

namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Runs `work` once to warm up and then `repetitions` times; prints microseconds per iteration.
void report(const st::machine& m, const char* what, long bytes, int repetitions, int iterations, double per_iteration,
            const std::function<void()>& work) {
  work();
  std::printf("{\"what\": \"%s\", \"machine\": \"%s\", \"devices\": %d, \"bytes\": %ld, \"iterations\": %d, \"us\": [",
              what, name(m.kind()), m.size(), bytes, iterations);
  for (int r = 0; r < repetitions; ++r)
    std::printf("%s%.4f", r > 0 ? ", " : "", seconds(work) / iterations / per_iteration * 1e6);
  std::printf("]}\n");
  std::fflush(stdout);
}

// PE 0 and PE 1 answer each other; each has two slots, and an answer is the credit for the next put.
void put_signal(st::machine& m, long bytes, int threads, int repetitions, int iterations) {
  auto buffer = m.allocate<char>(2 * bytes);
  auto source = m.allocate<char>(bytes);
  auto arrived = m.allocate<st::signal>(1);
  const auto to = buffer.data();
  const auto from = source.data();
  const auto sig = arrived.data();
  report(m, "put_signal", bytes, repetitions, iterations, 2, [&] {
    for (int pe = 0; pe < m.size(); ++pe) m.fill(arrived.on(pe), 0, sizeof(st::signal));
    m.run(1,
          STARLING_KERNEL(st::block & b) {
            if (b.pe() > 1) return;
            const int other = 1 - b.pe();
            for (int t = 1; t <= iterations; ++t) {
              const auto value = static_cast<std::uint64_t>(t);
              if (b.pe() == 1) b.wait(sig, value, other);
              b.put_signal(to + t % 2 * bytes, from.on(b.pe()), bytes, sig, value, other);
              if (b.pe() == 0) b.wait(sig, value, other);
            }
          },
          {.threads = threads});
  });
}

// The same with packets: data and number of the message in each 16 bytes, no fence, no signal.
void put_packets(st::machine& m, long bytes, int threads, int repetitions, int iterations) {
  const st::index_t packets = bytes / 8;
  auto boxes = m.allocate<st::packet>(2 * packets);
  auto received = m.allocate<double>(packets);
  const auto box = boxes.data();
  const auto values = received.data();
  report(m, "put_packets", bytes, repetitions, iterations, 2, [&] {
    for (int pe = 0; pe < m.size(); ++pe)
      m.fill(boxes.on(pe), 0, static_cast<std::size_t>(2 * packets) * sizeof(st::packet));
    m.run(1,
          STARLING_KERNEL(st::block & b) {
            if (b.pe() > 1) return;
            const int other = 1 - b.pe();
            double* mine = values.on(b.pe());
            for (int t = 1; t <= iterations; ++t) {
              const auto number = static_cast<std::uint64_t>(t);
              const auto slot = box + t % 2 * packets;
              const auto send = [&] {
                b.put_packets<double>(
                    slot, [&](st::index_t k) { return st::packet_content<double>{{mine[k] + 1}}; }, packets, number,
                    other);
              };
              const auto receive = [&] {
                const auto lane = b.thread();
                b.for_each(packets, [&](st::index_t k) {
                  mine[k] = lane.take_packet<double>(slot + k, number, other).element[0];
                });
                b.sync();
              };
              if (b.pe() == 1) receive();
              send();
              if (b.pe() == 0) receive();
            }
          },
          {.threads = threads});
  });
}

void barriers(st::machine& m, int repetitions, int iterations) {
  for (const int blocks : {1, 16}) {
    char what[64];
    std::snprintf(what, sizeof what, "sync_all, %d blocks", blocks);
    report(m, what, 0, repetitions, iterations, 1, [&] {
      m.run(
          blocks, STARLING_KERNEL(st::block & b) {
            for (int t = 0; t < iterations; ++t) b.sync_all();
          });
    });
    std::snprintf(what, sizeof what, "sync_pe, %d blocks", blocks);
    report(m, what, 0, repetitions, iterations, 1, [&] {
      m.run(
          blocks, STARLING_KERNEL(st::block & b) {
            for (int t = 0; t < iterations; ++t) b.sync_pe();
          });
    });
  }
}

struct two_doubles {
  double a, b;
};
struct add_both {
  STARLING_HD two_doubles operator()(const two_doubles& x, const two_doubles& y) const {
    return {x.a + y.a, x.b + y.b};
  }
};

void all_reduce(st::machine& m, int repetitions, int iterations) {
  report(m, "all_reduce of 2 doubles, 1 block", 16, repetitions, iterations, 1, [&] {
    m.run(
        1, STARLING_KERNEL(st::block & b) {
          two_doubles v{1.0 + b.pe(), 1.0};
          for (int t = 0; t < iterations; ++t) v = b.all_reduce(two_doubles{v.a / b.n_pes(), 1.0}, add_both{});
        });
  });
}

void launches(st::machine& m, int repetitions) {
  report(m, "run of an empty program", 0, repetitions, 1, 1, [&] { m.run(1, STARLING_KERNEL(st::block&){}); });
}

}  // namespace

int main(int argc, char** argv) try {
  const int devices = argc > 1 ? std::atoi(argv[1]) : 0;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  st::machine m = st::machine::best(devices);
  const int iterations = argc > 3 ? std::atoi(argv[3]) : m.kind() == st::machine_kind::cuda ? 10000 : 500;
  launches(m, repetitions);
  if (m.size() > 1)
    for (const long bytes : {8L, 64L, 512L, 4096L, 16384L, 65536L, 262144L, 1048576L, 8388608L})
      put_signal(m, bytes, bytes <= 4096 ? 256 : 1024, repetitions, bytes > 100000 ? iterations / 20 : iterations);
  if (m.size() > 1)
    for (const long bytes : {8L, 64L, 512L, 4096L, 16384L, 65536L})
      put_packets(m, bytes, bytes <= 512 ? 64 : 1024, repetitions, iterations);
  barriers(m, repetitions, iterations);
  all_reduce(m, repetitions, iterations);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "latency: %s\n", e.what());
  return 1;
}
