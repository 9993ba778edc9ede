// What a put to a PE behind a network card takes, by who asks for it and who carries it out:
//   gio            a block posts to its queue pair, and a kernel is the card
//   ikn            a block posts, and a thread of the host is the card
//   inter_k        the host puts, and waits for it; no kernel
//   inter_k_empty  the same behind an empty kernel
// `latency`: from the call to payload and signal seen at the target, half a round trip. `quiet`: put and quiet, from
// call to return. `rate`: puts of 8 bytes a second, by blocks that have a queue each. `cycles`: of one thread from the
// call to the doorbell, with the template that is in the ring and with the whole entry built; `tell` is what record and
// doorbell take of it, which wait for the stores before. The wire takes no time. Prints one JSON object a line.
//
//   latency [--ways gio,ikn,...] [--repetitions 5] [--iterations N] [--machine host]
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "command_line.hpp"
#include "json_line.hpp"
#include "starling/starling.hpp"

namespace st = starling;

namespace {

struct measuring {
  st::machine& m;
  const char* way;
  int repetitions;
  int iterations;

  st::bench::json_line line(const char* what) const {
    return st::bench::json_line(what)
        .add("way", way)
        .add("machine", name(m.kind()))
        .add("devices", m.size())
        .add("iterations", iterations);
  }
};

constexpr int warm = 10;  // rounds before what is timed

// One way of the round trips that PE 0 times, in nanoseconds of all of them.
double ping_pong(const measuring& how, st::index_t bytes) {
  auto buffer = how.m.allocate<char>(bytes);
  auto source = how.m.allocate<char>(bytes);
  auto arrived = how.m.allocate<st::signal>(1);
  auto took = how.m.allocate<std::uint64_t>(1);
  for (int pe = 0; pe < how.m.size(); ++pe) how.m.fill(arrived.on(pe), 0, sizeof(st::signal));
  const auto to = buffer.data();
  const auto from = source.data();
  const auto sig = arrived.data();
  const auto time = took.data();
  const int rounds = how.iterations + warm;
  how.m.run(1,
            STARLING_KERNEL(st::block & b) {
              if (b.pe() > 1) return;
              const int other = 1 - b.pe();
              std::uint64_t start = 0;
              for (int t = 1; t <= rounds; ++t) {
                const auto value = static_cast<std::uint64_t>(t);
                if (t == warm + 1) start = st::target::now_ns();
                if (b.pe() == 1) b.wait(sig, value, other);
                b.put_signal(to, from.on(b.pe()), bytes, sig, value, other);
                if (b.pe() == 0) b.wait(sig, value, other);
              }
              if (b.member() == 0) *time.on(b.pe()) = st::target::now_ns() - start;
            },
            {.threads = 128});
  std::uint64_t ns = 0;
  how.m.copy(&ns, took.on(0), sizeof ns);
  return static_cast<double>(ns) / 2;
}

// A put and quiet, one after the other, by PE 0.
double put_and_quiet(const measuring& how, st::index_t bytes) {
  auto buffer = how.m.allocate<char>(bytes);
  auto source = how.m.allocate<char>(bytes);
  auto took = how.m.allocate<std::uint64_t>(1);
  const auto to = buffer.data();
  const auto from = source.data();
  const auto time = took.data();
  const int rounds = how.iterations + warm;
  how.m.run(1,
            STARLING_KERNEL(st::block & b) {
              if (b.pe() != 0) return;
              std::uint64_t start = 0;
              for (int t = 1; t <= rounds; ++t) {
                if (t == warm + 1) start = st::target::now_ns();
                b.put(to, from.on(0), bytes, 1);
                b.quiet();
              }
              if (b.member() == 0) *time.on(0) = st::target::now_ns() - start;
            },
            {.threads = 128});
  std::uint64_t ns = 0;
  how.m.copy(&ns, took.on(0), sizeof ns);
  return static_cast<double>(ns);
}

void by_blocks(const measuring& how) {
  for (const st::index_t bytes : {4, 8, 64, 512, 1024, 4096}) {
    std::vector<double> latency, quiet;
    for (int r = 0; r < how.repetitions; ++r) {
      latency.push_back(ping_pong(how, bytes) / how.iterations / 1000);
      quiet.push_back(put_and_quiet(how, bytes) / how.iterations / 1000);
    }
    how.line("latency").add("bytes", bytes).add("us", latency).print();
    how.line("quiet").add("bytes", bytes).add("us", quiet).print();
  }
}

// Each block has a queue of its own.
void rate(const measuring& how) {
  auto words = how.m.allocate<std::uint64_t>(64);
  const auto x = words.data();
  const int puts = how.iterations;
  for (int blocks = 1; blocks <= 64; blocks *= 2) {
    std::vector<double> millions;
    for (int r = 0; r <= how.repetitions; ++r) {  // the first one to warm up
      const auto start = std::chrono::steady_clock::now();
      how.m.run(blocks,
                STARLING_KERNEL(st::block & b) {
                  if (b.pe() != 0) return;
                  for (int t = 0; t < puts; ++t) {
                    const auto value = static_cast<std::uint64_t>(t);
                    b.put_nbi(x + b.index(), &value, 1, 1);
                  }
                  b.quiet();
                },
                {.threads = 32});
      const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
      if (r > 0) millions.push_back(static_cast<double>(puts) * blocks / took.count());
    }
    how.line("rate").add("queues", blocks).add("millions_per_second", millions).print();
  }
}

// Notes when the entry is written.
class timed_bus : public st::network::gpu_bus {
 public:
  using st::network::gpu_bus::gpu_bus;
  STARLING_HD void release() const {
    if (written_ == 0) written_ = st::target::ticks();
    st::network::gpu_bus::release();
  }
  STARLING_HD std::uint64_t written() const { return written_; }

 private:
  mutable std::uint64_t written_ = 0;
};

struct cycle_counts {
  std::uint64_t entry;  // until the entry is written
  std::uint64_t all;    // until the doorbell is
};

// Of the queue to PE 1, which is open and idle. Only the block's first thread posts.
STARLING_HD cycle_counts least_of_posts(const st::block& b, st::sym<std::uint64_t> x, int posts, bool whole) {
  cycle_counts best{~std::uint64_t{0}, ~std::uint64_t{0}};
  if constexpr (st::target::on_gpu) {
    namespace net = st::network;
    const int place = net::place_of(net::network_of_block(), 0, 1);
    const net::queue_pair& q = net::network_of_block().pair[place];
    for (int t = 0; t < posts && b.member() == 0; ++t) {
      timed_bus bus(b.state(), b.index(), place, st::operation::put, st::where::current());
      net::order o = net::template_of(q.number, q.at_peer.key);
      o.what = net::opcode::write;
      o.carries = true;
      o.bytes = sizeof(std::uint64_t);
      o.remote = reinterpret_cast<std::uintptr_t>(x.on(1));
      if (whole)
        for (std::uint32_t i = 0; i < q.depth; ++i) q.kept[i] = net::unlike_others;
      const net::sender<timed_bus> send(q, bus);
      const std::uint64_t start = st::target::ticks();
      const std::uint64_t end = send.post(&o, 1);
      const std::uint64_t all = st::target::ticks() - start;
      if (end == 0 || !send.wait(end)) break;
      if (bus.written() - start < best.entry) best.entry = bus.written() - start;
      if (all < best.all) best.all = all;
    }
  }
  return best;
}

// The least of many posts, whole or by template, the queue idle before each.
void cycles(const measuring& how, bool whole) {
  auto words = how.m.allocate<std::uint64_t>(1);
  auto counts = how.m.allocate<cycle_counts>(1);
  const auto x = words.data();
  const auto least = counts.data();
  const int posts = how.iterations;
  how.m.run(1,
            STARLING_KERNEL(st::block & b) {
              if (b.pe() != 0) return;
              const std::uint64_t value = 1;
              b.put_nbi(x, &value, 1, 1);
              b.quiet();
              const cycle_counts best = least_of_posts(b, x, posts, whole);
              if (b.member() == 0) *least.on(0) = best;
            },
            {.threads = 32});
  cycle_counts found{};
  how.m.copy(&found, counts.on(0), sizeof found);
  how.line("cycles")
      .add("entry", whole ? "whole" : "template")
      .add("to_entry", found.entry)
      .add("to_doorbell", found.all)
      .add("tell", found.all - found.entry)
      .print();
}

void by_host(const measuring& how, bool empty_kernel) {
  auto arrived = how.m.allocate<st::signal>(1);
  auto sent = how.m.allocate<st::signal>(1);
  st::stream s = how.m.new_stream(0);
  const auto nothing = STARLING_KERNEL(st::block&){};
  for (const st::index_t bytes : {4, 8, 64, 512, 1024, 4096}) {
    auto buffer = how.m.allocate<char>(bytes);
    auto source = how.m.allocate<char>(bytes);
    std::vector<double> us;
    for (int r = 0; r <= how.repetitions; ++r) {
      const auto start = std::chrono::steady_clock::now();
      for (int t = 0; t < how.iterations; ++t) {
        if (empty_kernel) s.launch(1, nothing, {.threads = 128});
        s.copy(buffer.on(1), source.on(0), static_cast<std::size_t>(bytes));
        s.copy(arrived.on(1), sent.on(0), sizeof(st::signal));
        s.synchronize();
      }
      const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
      if (r > 0) us.push_back(took.count() / how.iterations);
    }
    how.line("quiet").add("bytes", bytes).add("us", us).print();
  }
}

struct asked {
  bool gpus;
  int repetitions;
  double iterations;  // 0: as many as suit the way
};

int count(const asked& a, double usual) { return static_cast<int>(a.iterations > 0 ? a.iterations : usual); }

void measure(const char* way, const asked& a) {
  const std::string name = way;
  const bool by_card = name == "gio" || name == "ikn";
  const std::vector<int> hosts = by_card ? std::vector<int>{0, 1} : std::vector<int>{0, 0};
  const st::card card = name == "ikn" ? st::card::proxy : st::card::model;
  st::machine m =
      a.gpus ? st::machine::cuda({0, 0}, {.hosts = hosts, .card = card}) : st::machine::host(2, {.hosts = hosts});
  const int rounds = count(a, !a.gpus ? 200 : name == "gio" ? 5000 : 1000);
  const measuring how{m, way, a.repetitions, rounds};
  if (!by_card) return by_host(how, name == "inter_k_empty");
  by_blocks(how);
  rate(how);
  if (!a.gpus || name != "gio") return;
  cycles(how, false);
  cycles(how, true);
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv, {"--ways", "--repetitions", "--iterations", "--machine"});
  const std::string kind = given.text("--machine", "cuda");
  st::expect<st::argument_error>(kind == "cuda" || kind == "host", "--machine ", kind, "; must be cuda or host");
  const asked a{kind == "cuda", static_cast<int>(given.number("--repetitions", 5)), given.number("--iterations", 0)};
  const std::vector<std::string> ways = given.list("--ways", "");
  for (const char* way : {"gio", "ikn", "inter_k", "inter_k_empty"}) {
    if (!a.gpus && std::string(way) == "ikn") continue;  // the cards of virtual devices are threads anyway
    if (ways.empty() || std::find(ways.begin(), ways.end(), way) != ways.end()) measure(way, a);
  }
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "latency: %s\n", e.what());
  return 1;
}
