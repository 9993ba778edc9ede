#include "comm/options.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "starling/base/error.hpp"

namespace starling::comm {
namespace {

constexpr index_t most_bytes = index_t{1} << 32;
constexpr int most_repetitions = 1000;
constexpr int most_blocks = 1024;

template <class List, class Name>
std::string joined(const List& list, const Name& name_of) {
  std::string text;
  for (const auto& one : list) text += (text.empty() ? "" : ", ") + std::string(name_of(one));
  return text;
}

}  // namespace

const char* name(way w) {
  switch (w) {
    case way::packets:
      return "packets";
    case way::stores:
      return "stores";
    case way::bulk:
      return "bulk";
    case way::channel:
      return "channel";
    case way::get:
      return "get";
    case way::scattered:
      return "scattered";
    case way::copy_engine:
      return "copy_engine";
    case way::staged:
      return "staged";
  }
  return "?";
}

way way_named(const std::string& wanted) {
  for (const way w : all_ways)
    if (wanted == name(w)) return w;
  throw argument_error(message("bench: way \"", wanted, "\" is not known; must be one of ",
                               joined(all_ways, [](way w) { return name(w); })));
}

const char* name(measure m) {
  switch (m) {
    case measure::latency:
      return "latency";
    case measure::stream:
      return "stream";
    case measure::call:
      return "call";
  }
  return "?";
}

bench_options completed(const bench_options& o, const machine& m) {
  const bool gpu = m.kind() == machine_kind::cuda;
  bench_options c = o;
  if (c.bytes.empty())
    for (index_t b = 8; b <= (gpu ? index_t{1} << 26 : index_t{1} << 16); b *= b < 1024 ? 8 : 4) c.bytes.push_back(b);
  for (const index_t b : c.bytes)
    expect<argument_error>(b >= 8 && b <= most_bytes && b % 8 == 0, "bench: messages of ", b,
                           " bytes; must be a multiple of 8 from 8 to ", most_bytes);
  const bool several = m.processes() > 1;
  for (const way w : c.ways)
    expect<unsupported_error>(!several || !by_host(w), "bench: ", name(w), " between ", m.processes(),
                              " processes; copies by the host are measured in one: name other ways, or use "
                              "machine::host(n)");
  if (c.ways.empty())
    std::copy_if(std::begin(all_ways), std::end(all_ways), std::back_inserter(c.ways),
                 [&](way w) { return !several || !by_host(w); });
  if (c.pairs.empty())
    for (int from = 0; from < m.size(); ++from)
      for (int to = 0; to < m.size(); ++to) c.pairs.emplace_back(from, to);
  for (const auto& [from, to] : c.pairs)
    for (const int pe : {from, to})
      expect<range_error>(pe >= 0 && pe < m.size(), "bench: PE ", pe, " of a machine with ", m.size(),
                          "; PEs are numbered from 0 to ", m.size() - 1);
  expect<argument_error>(c.repetitions >= 1 && c.repetitions <= most_repetitions, "bench: ", c.repetitions,
                         " repetitions; must be from 1 to ", most_repetitions);
  expect<argument_error>(std::isfinite(c.seconds) && c.seconds > 0 && c.seconds <= 60, "bench: ", c.seconds,
                         " seconds a repetition; must be more than 0 and at most 60");
  expect<argument_error>(c.blocks >= 0 && c.blocks <= most_blocks, "bench: ", c.blocks,
                         " blocks; must be from 0, which chooses, to ", most_blocks);
  if (c.blocks == 0) c.blocks = gpu ? 16 : 1;
  return c;
}

}  // namespace starling::comm
