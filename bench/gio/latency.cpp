// What a put to a PE behind a network card takes, by who asks for it and who carries it out: apps/gio/measure.hpp says
// what is measured. Prints one JSON object a line; `blocks` is put and quiet by several blocks at a time, `cycles` of
// one thread from the call to the doorbell, with the template that is in the ring and with the whole entry built, of
// which `tell` is what record and doorbell take, which wait for the stores before.
//
//   latency [--ways gio,ikn,...] [--repetitions 5] [--iterations N] [--machine host]
#include <algorithm>
#include <cstdio>

#include "command_line.hpp"
#include "gio/measure.hpp"
#include "json_line.hpp"

namespace st = starling;
namespace gio = starling::gio;

namespace {

st::bench::json_line line_of(const char* what, const st::machine& m, gio::way by, int iterations) {
  return st::bench::json_line(what)
      .add("way", gio::name(by))
      .add("machine", name(m.kind()))
      .add("devices", m.size())
      .add("iterations", iterations);
}

void print(const st::machine& m, const gio::measurement& r) {
  if (r.what == gio::quantity::rate) {
    std::vector<double> millions;
    for (const double us : r.us) millions.push_back(1 / us);
    line_of("rate", m, r.by, r.iterations).add("queues", r.blocks).add("millions_per_second", millions).print();
  } else if (r.blocks > 1) {
    line_of("blocks", m, r.by, r.iterations).add("blocks", r.blocks).add("bytes", r.bytes).add("us", r.us).print();
  } else {
    line_of(gio::name(r.what), m, r.by, r.iterations).add("bytes", r.bytes).add("us", r.us).print();
  }
}

void print_cycles(st::machine& m, gio::way by, bool whole, int posts) {
  const gio::post_cycles found = gio::cycles_of_posts(m, whole, posts);
  line_of("cycles", m, by, posts)
      .add("entry", whole ? "whole" : "template")
      .add("to_entry", found.to_entry)
      .add("to_doorbell", found.to_doorbell)
      .add("tell", found.to_doorbell - found.to_entry)
      .print();
}

void measure(gio::way by, bool gpus, const gio::measure_options& o) {
  const std::vector<int> hosts = gio::by_card(by) ? std::vector<int>{0, 1} : std::vector<int>{0, 0};
  const st::card card = by == gio::way::ikn ? st::card::proxy : st::card::model;
  st::machine m =
      gpus ? st::machine::cuda({0, 0}, {.hosts = hosts, .card = card}) : st::machine::host(2, {.hosts = hosts});
  (void)gio::measure(m, by, o, [&](const gio::measurement& r) { print(m, r); });
  if (!gpus || by != gio::way::gio) return;
  const int posts = o.iterations > 0 ? o.iterations : 5000;
  for (const bool whole : {false, true}) print_cycles(m, by, whole, posts);
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv, {"--ways", "--repetitions", "--iterations", "--machine"});
  const std::string kind = given.text("--machine", "cuda");
  st::expect<st::argument_error>(kind == "cuda" || kind == "host", "--machine ", kind, "; must be cuda or host");
  const bool gpus = kind == "cuda";
  const gio::measure_options o{.bytes = {},
                               .blocks = {},
                               .repetitions = static_cast<int>(given.number("--repetitions", 5)),
                               .iterations = static_cast<int>(given.number("--iterations", 0))};
  std::vector<gio::way> ways;
  for (const std::string& text : given.list("--ways", "")) ways.push_back(gio::way_named(text));
  for (const gio::way by : gio::all_ways) {
    if (!gpus && by == gio::way::ikn) continue;  // the cards of virtual devices are threads anyway
    if (ways.empty() || std::find(ways.begin(), ways.end(), by) != ways.end()) measure(by, gpus, o);
  }
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "latency: %s\n", e.what());
  return 1;
}
