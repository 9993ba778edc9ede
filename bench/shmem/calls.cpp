// What OpenSHMEM's names cost beside the calls that they rest on, inside one persistent program: put_signal by
// ping-pong of two PEs (half a round trip), p and a wait for its word, a team's sync beside sync_all, its sum of one
// double beside all_reduce. Both forms of a pair are measured in turn. Prints one JSON object a line.
//
//   calls [--devices N] [--repetitions 5] [--iterations N]
#include <chrono>
#include <cstdio>

#include "command_line.hpp"
#include "json_line.hpp"
#include "starling/shmem.hpp"
#include "starling/starling.hpp"

namespace st = starling;
namespace shmem = starling::shmem;

namespace {

struct measuring {
  st::machine& m;
  int repetitions;
  int iterations;
};

template <class Work>
double microseconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

// Two forms of the same thing, each once to warm up, then in turn.
template <class First, class Second>
void pair(const measuring& how, const char* what, long bytes, double per_iteration, const First& device,
          const Second& names) {
  std::vector<double> by_device, by_names;
  device();
  names();
  for (int r = 0; r < how.repetitions; ++r) {
    by_device.push_back(microseconds(device) / how.iterations / per_iteration);
    by_names.push_back(microseconds(names) / how.iterations / per_iteration);
  }
  for (const bool of_shmem : {false, true})
    st::bench::json_line(what)
        .add("by", of_shmem ? "shmem" : "block")
        .add("machine", name(how.m.kind()))
        .add("devices", how.m.size())
        .add("bytes", bytes)
        .add("iterations", how.iterations)
        .add("us", of_shmem ? by_names : by_device)
        .print();
}

template <bool OfShmem>
STARLING_HD void send(const st::block& b, st::sym<char> to, const char* from, long bytes, st::sym<st::signal> sig,
                      std::uint64_t value, int pe) {
  if constexpr (OfShmem)
    shmem::put_signal(b, to, from, bytes, sig, value, st::signal_op::set, pe);
  else
    b.put_signal(to, from, bytes, sig, value, pe);
}

template <bool OfShmem>
STARLING_HD void await(const st::block& b, st::sym<st::signal> sig, std::uint64_t value, int from) {
  if constexpr (OfShmem)
    shmem::signal_wait_until(b, sig, st::compare::ge, value, from);
  else
    b.wait(sig, value, from);
}

// PE 0 and PE 1 answer each other; each has two slots, and an answer is the credit for the next put.
template <bool OfShmem>
void ping_pong(const measuring& how, st::sym<char> to, st::sym<char> from, st::sym<st::signal> sig, long bytes) {
  const int iterations = how.iterations;
  how.m.run(1,
            STARLING_KERNEL(st::block & b) {
              if (b.pe() > 1) return;
              const int other = 1 - b.pe();
              for (int t = 1; t <= iterations; ++t) {
                const auto value = static_cast<std::uint64_t>(t);
                if (b.pe() == 1) await<OfShmem>(b, sig, value, other);
                send<OfShmem>(b, to + t % 2 * bytes, from.on(b.pe()), bytes, sig, value, other);
                if (b.pe() == 0) await<OfShmem>(b, sig, value, other);
              }
            },
            {.threads = bytes <= 4096 ? 256 : 1024});
}

void put_signal(const measuring& how, long bytes) {
  auto buffer = how.m.allocate<char>(2 * bytes);
  auto source = how.m.allocate<char>(bytes);
  auto arrived = how.m.allocate<st::signal>(1);
  const auto cleared = [&](auto work) {
    return [&how, &buffer, &source, &arrived, bytes, work] {
      for (int pe = 0; pe < how.m.size(); ++pe) how.m.fill(arrived.on(pe), 0, sizeof(st::signal));
      work(how, buffer.data(), source.data(), arrived.data(), bytes);
    };
  };
  pair(how, "put_signal", bytes, 2, cleared(&ping_pong<false>), cleared(&ping_pong<true>));
}

// A word that is waited for, by the names alone: p beside put_signal of nothing.
void word(const measuring& how) {
  auto words = how.m.allocate<std::uint64_t>(1);
  auto arrived = how.m.allocate<st::signal>(1);
  const auto x = words.data();
  const auto sig = arrived.data();
  const int iterations = how.iterations;
  pair(
      how, "signal_set against p", 8, 2,
      [&] {
        for (int pe = 0; pe < how.m.size(); ++pe) how.m.fill(arrived.on(pe), 0, sizeof(st::signal));
        how.m.run(
            1, STARLING_KERNEL(st::block & b) {
              if (b.pe() > 1) return;
              const int other = 1 - b.pe();
              for (int t = 1; t <= iterations; ++t) {
                const auto value = static_cast<std::uint64_t>(t);
                if (b.pe() == 1) b.wait(sig, value, other);
                b.signal_set(sig, value, other);
                if (b.pe() == 0) b.wait(sig, value, other);
              }
            });
      },
      [&] {
        for (int pe = 0; pe < how.m.size(); ++pe) how.m.fill(words.on(pe), 0, sizeof(std::uint64_t));
        how.m.run(
            1, STARLING_KERNEL(st::block & b) {
              if (b.pe() > 1) return;
              const int other = 1 - b.pe();
              for (int t = 1; t <= iterations; ++t) {
                const auto value = static_cast<std::uint64_t>(t);
                if (b.pe() == 1) shmem::wait_until(b, x, st::compare::ge, value, other);
                shmem::p(b, x, value, other);
                if (b.pe() == 0) shmem::wait_until(b, x, st::compare::ge, value, other);
              }
            });
      });
}

void meetings(const measuring& how) {
  auto everyone = shmem::team_world(how.m);
  const auto team = everyone.handle();
  const int iterations = how.iterations;
  pair(
      how, "sync_all against sync of a team", 0, 1,
      [&] {
        how.m.run(
            1, STARLING_KERNEL(st::block & b) {
              for (int t = 0; t < iterations; ++t) b.sync_all();
            });
      },
      [&] {
        how.m.run(
            1, STARLING_KERNEL(st::block & b) {
              for (int t = 0; t < iterations; ++t) shmem::sync(b, team);
            });
      });
}

void sums(const measuring& how) {
  auto everyone = shmem::team_world(how.m);
  auto values = how.m.allocate<double>(2);
  const auto team = everyone.handle();
  const auto part = values.data();
  const int iterations = how.iterations;
  for (int pe = 0; pe < how.m.size(); ++pe) how.m.fill(values.on(pe), 0, 2 * sizeof(double));
  pair(
      how, "all_reduce against sum_reduce", 8, 1,
      [&] {
        how.m.run(
            1, STARLING_KERNEL(st::block & b) {
              double v = 1.0 + b.pe();
              for (int t = 0; t < iterations; ++t) v = b.all_reduce(v / b.n_pes(), shmem::sum{});
              if (b.all_threads().member() == 0) part.on(b.pe())[0] = v;
            });
      },
      [&] {
        how.m.run(
            1, STARLING_KERNEL(st::block & b) {
              for (int t = 0; t < iterations; ++t) shmem::sum_reduce(b, team, part + 1, part, 1);
            });
      });
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv, {"--devices", "--repetitions", "--iterations"});
  st::machine m = st::machine::best(static_cast<int>(given.number("--devices", 0)));
  st::expect<st::argument_error>(m.size() > 1, "--devices: a machine of ", m.size(),
                                 " PE; name at least 2 (STARLING_PES_PER_GPU=4 on one GPU)");
  const double usual = m.kind() == st::machine_kind::cuda ? 10000 : 300;
  const measuring how{m, static_cast<int>(given.number("--repetitions", 5)),
                      static_cast<int>(given.number("--iterations", usual))};
  for (const long bytes : {8L, 4096L, 65536L}) put_signal(how, bytes);
  word(how);
  meetings(how);
  sums(how);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "calls: %s\n", e.what());
  return 1;
}
