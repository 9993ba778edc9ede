#include "gio/measure.hpp"

#include "gio/puts.hpp"
#include "starling/base/error.hpp"

namespace starling::gio {
namespace {

constexpr index_t most_bytes = index_t{1} << 26;
constexpr int most_blocks = 1024;
constexpr int most_rounds = 1'000'000;

// The options with what was left open filled in.
measure_options completed(measure_options o, const machine& m, way by) {
  if (o.bytes.empty()) o.bytes = {4, 8, 64, 512, 1024, 4096};
  if (o.blocks.empty()) o.blocks = {1, 2, 4, 8, 16, 32, 64};
  if (o.iterations == 0) o.iterations = m.kind() != machine_kind::cuda ? 200 : by == way::gio ? 5000 : 1000;
  for (const index_t n : o.bytes)
    expect<argument_error>(n >= 1 && n <= most_bytes, "bytes = ", n, "; must be from 1 to ", most_bytes);
  for (const int n : o.blocks)
    expect<argument_error>(n >= 1 && n <= most_blocks, "blocks = ", n, "; must be from 1 to ", most_blocks);
  expect<argument_error>(o.repetitions >= 1 && o.repetitions <= most_rounds, "repetitions = ", o.repetitions,
                         "; must be from 1 to ", most_rounds);
  expect<argument_error>(o.iterations >= 1 && o.iterations <= most_rounds, "iterations = ", o.iterations,
                         "; must be from 1 to ", most_rounds);
  return o;
}

void check_machine(const machine& m, way by) {
  expect<unsupported_error>(by != way::ikn || m.kind() == machine_kind::cuda,
                            "only GPUs have a card that is a thread of the host; those of virtual devices are "
                            "threads anyway. Measure it on GPUs, or take gio");
  expect<argument_error>(m.size() >= 2, "this machine has ", m.size(), " PE; puts need 2");
  const bool apart = m.link(0, 1) == peer_link::card;
  expect<argument_error>(apart == by_card(by), name(by), " is measured on a machine whose PEs 0 and 1 are ",
                         by_card(by) ? "on two hosts (hosts = {0, 1})" : "on one host", "; make such a machine");
}

class measuring {
 public:
  measuring(machine& m, way by, const measure_options& o, const std::function<void(const measurement&)>& told)
      : m_(m), by_(by), o_(o), told_(told) {}

  // f gives the nanoseconds of `puts` puts.
  template <class F>
  void add(quantity what, index_t bytes, int blocks, double puts, const F& f) {
    measurement r{what, by_, bytes, blocks, o_.iterations, {}};
    for (int i = 0; i <= o_.repetitions; ++i) {
      const double us = f() / puts / 1000;
      if (i > 0) r.us.push_back(us);
    }
    if (told_) told_(r);
    all_.push_back(std::move(r));
  }

  std::vector<measurement> by_blocks() {
    const int n = o_.iterations;
    for (const index_t bytes : o_.bytes) add(quantity::latency, bytes, 1, n, [&] { return ping_pong(m_, bytes, n); });
    for (const int blocks : o_.blocks) {
      for (const index_t bytes : o_.bytes)
        add(quantity::quiet, bytes, blocks, n, [&] { return puts_and_quiets(m_, bytes, blocks, n); });
      add(quantity::rate, 8, blocks, static_cast<double>(n) * blocks, [&] { return program_of_puts(m_, blocks, n); });
    }
    return std::move(all_);
  }

  std::vector<measurement> by_host() {
    for (const index_t bytes : o_.bytes)
      add(quantity::quiet, bytes, 1, o_.iterations,
          [&] { return host_puts(m_, bytes, o_.iterations, by_ == way::inter_k_empty); });
    return std::move(all_);
  }

 private:
  machine& m_;
  way by_;
  measure_options o_;
  const std::function<void(const measurement&)>& told_;
  std::vector<measurement> all_;
};

}  // namespace

const char* name(way w) {
  constexpr const char* names[] = {"gio", "ikn", "inter_k", "inter_k_empty"};
  return names[static_cast<int>(w)];
}

const char* name(quantity q) {
  constexpr const char* names[] = {"latency", "quiet", "rate"};
  return names[static_cast<int>(q)];
}

way way_named(const std::string& text) {
  std::string known;
  for (const way w : all_ways) {
    if (text == name(w)) return w;
    known += (known.empty() ? "" : ", ") + std::string(name(w));
  }
  throw argument_error(message("ways: '", text, "' is not known; must be some of ", known));
}

std::vector<measurement> measure(machine& m, way by, const measure_options& o,
                                 const std::function<void(const measurement&)>& told) {
  check_machine(m, by);
  measuring all(m, by, completed(o, m, by), told);
  return by_card(by) ? all.by_blocks() : all.by_host();
}

}  // namespace starling::gio
