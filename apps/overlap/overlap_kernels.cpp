#include "overlap/overlap.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

namespace starling::overlap {
namespace detail {

// Not to be had without doing the steps.
STARLING_HD inline std::uint32_t value_of(index_t i, std::uint64_t epoch, int work) {
  auto v = static_cast<std::uint32_t>(i) * 2654435761u + static_cast<std::uint32_t>(epoch);
  for (int k = 0; k < work; ++k) v = v * 1664525u + (v >> 16);
  return v;
}

struct compute {
  region_handle<std::uint32_t> values;
  std::uint64_t epoch;
  int work;

  STARLING_HD void operator()(block& b) const {
    values.await(b, epoch - 1);
    values.each_tile(b, epoch, [&](const tile& t, const tracked<std::uint32_t>& next) {
      b.for_each(t.range, [&](index_t i) { next(i) = value_of(i, epoch, work); });
    });
  }
};

// Run r of `runs`, a power of two, lies at place r * odd: neighbours in time are far apart in memory.
STARLING_HD inline index_t place_of(index_t r, index_t runs) { return (r * 0x9e3779b1) & (runs - 1); }

struct store_runs {
  std::uint32_t* to;
  index_t runs;
  index_t run;

  STARLING_HD void operator()(block& b) const {
    if (b.pe() != 0) return;
    const index_range mine = b.my_share(runs);
    b.for_each(mine.size() * run, [&](index_t e) {
      const index_t place = place_of(mine.begin + e / run, runs);
      to[place * run + e % run] = static_cast<std::uint32_t>(place * run + e % run);
    });
  }
};

}  // namespace detail

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

region_options options_for(const machine& m, const run_options& o) {
  expect<argument_error>(o.to == destination::peers || m.size() == 1, "overlap: ", m.size(),
                         " PEs that send to the host; one PE's whole vector goes there, make a machine of one");
  expect<argument_error>(o.elements >= 1, "overlap: ", o.elements, " elements; must be at least 1");
  expect<argument_error>(o.tile_bytes >= 4 && o.tile_bytes <= std::size_t{1} << 30,
                         "overlap: tile_bytes = ", o.tile_bytes, "; must be from 4 bytes to 1 GiB");
  region_options r;
  r.agent = o.agent;
  r.chunk_bytes = o.chunk_bytes;
  r.tiles = region_mapping::one_to_one(static_cast<index_t>(o.tile_bytes / 4));
  r.agent_blocks = o.agent_blocks;
  r.sending = o.sending;
  r.links = o.links;
  r.verify = o.verify;
  r.timed = o.timed;
  if (o.to == destination::host) r.subscribers = everyone.and_host();
  return r;
}

// As many as fit; on virtual devices as many as there are cores for.
int blocks_for(const machine& m, int fit, index_t parts) {
  if (m.kind() == machine_kind::host)
    fit = std::min(fit, static_cast<int>(std::thread::hardware_concurrency()) / m.size());
  return static_cast<int>(std::clamp<index_t>(fit, 1, std::max<index_t>(parts, 1)));
}

}  // namespace

microbenchmark::microbenchmark(const machine& m, const run_options& o)
    : machine_(m), options_(o), values_(machine_, o.elements, options_for(m, o)) {
  values_.load(std::vector<std::uint32_t>(static_cast<std::size_t>(o.elements), 0));
}

run_result microbenchmark::run(int work) {
  expect<argument_error>(work >= 0, "overlap: ", work, " steps of work; must be at least 0");
  const with_own_warp k{detail::compute{values_.handle(), ++epoch_, work_ = work}};
  launch_options l;
  l.threads = options_.threads;
  l.deadline = options_.deadline;
  const auto tiles = static_cast<index_t>(values_.report().tiles / machine_.size());
  const int blocks = blocks_for(machine_, values_.blocks_that_fit(k, l), tiles);
  const auto programs = values_.programs(blocks, k, l);
  const auto start = clock::now();
  machine_.run(programs);
  return {seconds_since(start), blocks};
}

bool microbenchmark::right() const {
  std::vector<std::uint32_t> got(static_cast<std::size_t>(options_.elements));
  // The host is to do no more steps than this: elements at a distance that is odd, so that all places in lines occur.
  constexpr index_t most_steps = 100'000'000;
  const auto of_chunk = static_cast<index_t>(std::min(options_.chunk_bytes, options_.tile_bytes) / 4);
  const index_t wanted = options_.elements / std::max<index_t>(1, most_steps / (work_ + 1));
  const index_t distance = std::clamp<index_t>(wanted, 1, std::max<index_t>(1, of_chunk - 1)) | 1;
  const auto same = [&](std::span<const std::uint32_t> values) {
    for (index_t i = 0; i < options_.elements; i += distance)
      if (values[static_cast<std::size_t>(i)] != detail::value_of(i, epoch_, work_)) return false;
    return true;
  };
  if (options_.to == destination::host) return values_.host_epoch() == epoch_ && same(values_.on_host(epoch_));
  for (int pe = 0; pe < machine_.size(); ++pe) {
    values_.read(pe, epoch_, got);
    if (!same(got)) return false;
  }
  return true;
}

double microbenchmark::copy_seconds() {
  const region_handle<std::uint32_t> h = values_.handle();
  std::vector<stream> streams;
  struct piece {
    std::size_t stream;
    void* to;
    const void* from;
    std::size_t bytes;
  };
  std::vector<piece> pieces;
  for (int pe = 0; pe < machine_.size(); ++pe) {
    const index_range part = values_.part(pe);
    const std::uint32_t* from = h.values().on(pe) + part.begin;
    const auto bytes = static_cast<std::size_t>(part.size()) * sizeof(std::uint32_t);
    if (options_.to == destination::host) {
      pieces.push_back({streams.size(), h.state().host_values, from, bytes});
      streams.push_back(machine_.new_stream(pe));
    }
    for (int k = 1; k < machine_.size(); ++k) {
      pieces.push_back({streams.size(), h.values().on((pe + k) % machine_.size()) + part.begin, from, bytes});
      streams.push_back(machine_.new_stream(pe));
    }
  }
  const auto start = clock::now();
  for (const piece& p : pieces)
    if (p.bytes > 0) streams[p.stream].copy(p.to, p.from, p.bytes);
  for (stream& s : streams) s.synchronize();
  return seconds_since(start);
}

double store_seconds(machine& m, destination to, index_t elements, index_t run) {
  const auto is_power = [](index_t n) { return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n)); };
  expect<argument_error>(is_power(elements) && is_power(run) && run <= elements, "overlap: runs of ", run, " of ",
                         elements, " elements; both must be powers of two");
  expect<argument_error>(to == destination::host || m.size() > 1, "overlap: a machine of one PE has no peer");
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(std::uint32_t);
  const local_memory memory = m.allocate_on(to == destination::host ? host_place : 1, bytes);
  m.fill(memory.data(), 0xff, bytes);
  const detail::store_runs k{reinterpret_cast<std::uint32_t*>(memory.data()), elements / run, run};
  const int blocks = blocks_for(m, m.blocks_that_fit(k, {}), elements / run);
  const auto start = clock::now();
  m.run(blocks, k);
  const double seconds = seconds_since(start);
  std::vector<std::uint32_t> got(static_cast<std::size_t>(elements));
  m.copy(got.data(), memory.data(), bytes);
  for (index_t i = 0; i < elements; ++i)
    expect<device_error>(got[static_cast<std::size_t>(i)] == static_cast<std::uint32_t>(i), "overlap: element ", i,
                         " is ", got[static_cast<std::size_t>(i)], " after stores in runs of ", run);
  return seconds;
}

}  // namespace starling::overlap
