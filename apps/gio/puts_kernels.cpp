#include <algorithm>
#include <chrono>

#include "gio/puts.hpp"

namespace starling::gio {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

double ping_pong(machine& m, index_t bytes, int rounds) {
  auto buffer = m.allocate<char>(bytes);
  auto source = m.allocate<char>(bytes);
  auto arrived = m.allocate<signal>(1);
  auto took = m.allocate<std::uint64_t>(1);
  for (int pe = 0; pe < m.size(); ++pe) m.fill(arrived.on(pe), 0, sizeof(signal));
  const auto to = buffer.data();
  const auto from = source.data();
  const auto sig = arrived.data();
  const auto time = took.data();
  const int all = rounds + warm_rounds;
  m.run(1,
        STARLING_KERNEL(block & b) {
          if (b.pe() > 1) return;
          const int other = 1 - b.pe();
          std::uint64_t start = 0;
          for (int t = 1; t <= all; ++t) {
            const auto value = static_cast<std::uint64_t>(t);
            if (t == warm_rounds + 1) start = target::now_ns();
            if (b.pe() == 1) b.wait(sig, value, other);
            b.put_signal(to, from.on(b.pe()), bytes, sig, value, other);
            if (b.pe() == 0) b.wait(sig, value, other);
          }
          if (b.member() == 0) *time.on(b.pe()) = target::now_ns() - start;
        },
        {.threads = 128});
  std::uint64_t ns = 0;
  m.copy(&ns, took.on(0), sizeof ns);
  return static_cast<double>(ns) / 2;
}

double puts_and_quiets(machine& m, index_t bytes, int blocks, int rounds) {
  auto buffer = m.allocate<char>(blocks * bytes);
  auto source = m.allocate<char>(blocks * bytes);
  auto took = m.allocate<std::uint64_t>(blocks);
  const auto to = buffer.data();
  const auto from = source.data();
  const auto time = took.data();
  const int all = rounds + warm_rounds;
  m.run(blocks,
        STARLING_KERNEL(block & b) {
          if (b.pe() != 0) return;
          const index_t mine = b.index() * bytes;
          std::uint64_t start = 0;
          for (int t = 1; t <= all; ++t) {
            if (t == warm_rounds + 1) start = target::now_ns();
            b.put(to + mine, from.on(0) + mine, bytes, 1);
            b.quiet();
          }
          if (b.member() == 0) time.on(0)[b.index()] = target::now_ns() - start;
        },
        {.threads = 128});
  std::vector<std::uint64_t> ns(static_cast<std::size_t>(blocks));
  m.copy(ns.data(), took.on(0), ns.size() * sizeof(std::uint64_t));
  return static_cast<double>(*std::max_element(ns.begin(), ns.end()));
}

double program_of_puts(machine& m, int blocks, int puts) {
  constexpr int apart = 4096;  // puts under way must not overlap, so there is a quiet now and then
  auto words = m.allocate<std::uint64_t>(index_t{blocks} * apart);
  for (int pe = 0; pe < m.size(); ++pe)
    m.fill(words.on(pe), 0, static_cast<std::size_t>(blocks) * apart * sizeof(std::uint64_t));
  const auto x = words.data();
  const auto start = std::chrono::steady_clock::now();
  m.run(blocks,
        STARLING_KERNEL(block & b) {
          if (b.pe() != 0) return;
          const auto mine = x + index_t{b.index()} * apart;
          for (int t = 0; t < puts; ++t) {
            b.put_nbi(mine + t % apart, mine.on(0) + t % apart, 1, 1);
            if ((t + 1) % apart == 0) b.quiet();
          }
          b.quiet();
        },
        {.threads = 32});
  return since(start);
}

double host_puts(machine& m, index_t bytes, int rounds, bool empty_kernel) {
  auto arrived = m.allocate<signal>(1);
  auto sent = m.allocate<signal>(1);
  auto buffer = m.allocate<char>(bytes);
  auto source = m.allocate<char>(bytes);
  stream s = m.new_stream(0);
  const auto nothing = STARLING_KERNEL(block&){};
  const auto start = std::chrono::steady_clock::now();
  for (int t = 0; t < rounds; ++t) {
    if (empty_kernel) s.launch(1, nothing, {.threads = 128});
    s.copy(buffer.on(1), source.on(0), static_cast<std::size_t>(bytes));
    s.copy(arrived.on(1), sent.on(0), sizeof(signal));
    s.synchronize();
  }
  return since(start);
}

}  // namespace starling::gio
