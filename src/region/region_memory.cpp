#include <algorithm>
#include <chrono>
#include <thread>

#include "copy_plan.hpp"
#include "layout.hpp"
#include "starling/region/region.hpp"

namespace starling {
namespace {

// What all PEs have alike.
template <class V>
std::vector<std::vector<V>> on_each(int pes, const std::vector<V>& values) {
  return std::vector<std::vector<V>>(static_cast<std::size_t>(pes), values);
}

// One list of each PE's part.
template <class V>
std::vector<std::vector<V>> of_parts(const region_layout& l, std::vector<V> part_layout::* list) {
  std::vector<std::vector<V>> all;
  for (const part_layout& p : l.parts) all.push_back(p.*list);
  return all;
}

// Who gets chunks of each PE.
std::vector<std::uint64_t> readers_of(const region_layout& l) {
  const std::size_t pes = l.parts.size();
  const std::uint64_t all = pes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << pes) - 1;
  std::vector<std::uint64_t> readers(pes, l.subscribers.empty() ? all : 0);
  for (std::size_t pe = 0; pe < pes; ++pe) {
    readers[pe] |= std::uint64_t{1} << pe;
    for (int c = l.chunk_at[pe]; c < l.chunk_at[pe + 1] && !l.subscribers.empty(); ++c)
      readers[pe] |= l.subscribers[static_cast<std::size_t>(c)];
  }
  return readers;
}

std::vector<std::vector<std::int32_t>> got_by(const region_layout& l) {
  std::vector<std::vector<std::int32_t>> all(l.parts.size());
  for (std::size_t pe = 0; pe < all.size(); ++pe)
    for (int c = 0; c < l.chunks(); ++c)
      if (l.subscribers[static_cast<std::size_t>(c)] >> pe & 1) all[pe].push_back(c);
  return all;
}

// For each part, the tiles that write each of its chunks.
struct chunk_writers {
  std::vector<std::vector<std::int32_t>> tiles, begins;
};

chunk_writers writers_of(const region_layout& l) {
  chunk_writers all;
  for (const part_layout& p : l.parts) {
    std::vector<std::vector<std::int32_t>> of_chunk(p.writers.size());
    for (int t = 0; t < p.tiles(); ++t)
      for (std::int32_t i = p.chunk_at[static_cast<std::size_t>(t)]; i < p.chunk_at[static_cast<std::size_t>(t) + 1];
           ++i)
        of_chunk[static_cast<std::size_t>(p.chunks[static_cast<std::size_t>(i)])].push_back(t);
    auto& tiles = all.tiles.emplace_back();
    auto& begins = all.begins.emplace_back(1, 0);
    for (const auto& list : of_chunk) {
      tiles.insert(tiles.end(), list.begin(), list.end());
      begins.push_back(static_cast<std::int32_t>(tiles.size()));
    }
  }
  return all;
}

int most_chunks_of_a_part(const region_layout& l) {
  int most = 1;
  for (std::size_t pe = 0; pe < l.parts.size(); ++pe) most = std::max(most, l.chunk_at[pe + 1] - l.chunk_at[pe]);
  return most;
}

// What is for measuring, and what machines do not do with it.
void check_measuring(const machine& m, const region_options& o) {
  expect<unsupported_error>(o.sending == region_sending::all || !m.checking(),
                            "region_options::sending = ", name(o.sending),
                            ": values are wrong by intent, which check mode would report; leave it out "
                            "there");
  if (!o.links.any()) return;
  expect<unsupported_error>(o.agent == region_agent::polling && o.sending != region_sending::track_only &&
                                o.sending != region_sending::untracked,
                            "region_options::links: nothing paces ", name(o.agent), " with sending = ", name(o.sending),
                            "; use region_agent::polling and an agent that sends");
  constexpr double least_rate = 1e6;
  const double rate = o.links.bytes_per_second;
  const double latency = o.links.latency_seconds;
  expect<argument_error>(rate == 0 || rate >= least_rate, "region_options::links: ", rate,
                         " bytes a second; must be at least ", least_rate, ", or 0: as fast as links are");
  expect<argument_error>(latency >= 0 && latency <= 1, "region_options::links: a latency of ", latency,
                         " s; must be from 0 to 1");
}

// One block cannot fill a link, and producers that have a few blocks on each multiprocessor hardly miss these.
constexpr int multiprocessors_of_an_agent_block = 8;

int chosen_agent_blocks(const machine& m, region_agent agent) {
  if (!polls(agent) && agent != region_agent::launched) return 1;
  int least = m.device(0).multiprocessors;
  for (int pe = 1; pe < m.size(); ++pe) least = std::min(least, m.device(pe).multiprocessors);
  return std::max(agent == region_agent::launched ? 2 : 1, least / multiprocessors_of_an_agent_block);
}

}  // namespace

region_memory::region_memory(machine& m, index_t n, std::size_t element, const region_options& o)
    : machine_(m),
      layout_(std::make_shared<const region_layout>(make_region_layout(n, m.size(), element, o))),
      element_(element),
      pitch_(round_up(n * static_cast<index_t>(element), line_bytes) / static_cast<index_t>(element)),
      links_(o.links) {
  check_measuring(machine_, o);
  state_.size = n;
  expect<unsupported_error>(
      machine_.processes() == 1 || (!o.subscribers.host() && o.agent != region_agent::copy_engine),
      "region: a copy on the host, and the agent copy_engine, are for one process; leave them out, or use "
      "machine::host(n)");
  state_.buffers = o.buffers;
  state_.chunks = layout_->chunks();
  state_.chunk_elements = layout_->chunk_elements;
  state_.agent = o.agent;
  state_.agent_blocks = o.agent_blocks != 0 ? o.agent_blocks : chosen_agent_blocks(machine_, o.agent);
  state_.credits = o.credits;
  state_.flushes = o.flushes;
  state_.mappings = static_cast<int>(o.tiles.all().size());
  state_.sending = o.sending;
  values_ = machine_.allocate<std::byte>(o.buffers * pitch_ * static_cast<index_t>(element));
  keep_layout();
  allocate_words();
  allocate_measuring(o);
  if (o.subscribers.host()) {
    host_values_ = machine_.allocate_on(host_place, static_cast<std::size_t>(values_.size()));
    host_arrived_ = machine_.allocate_on(host_place, static_cast<std::size_t>(state_.chunks) * sizeof(signal));
    state_.host_values = host_values_.data();
    state_.host_arrived = reinterpret_cast<signal*>(host_arrived_.data());
  }
  if (state_.agent == region_agent::copy_engine && state_.has_agent() && state_.leaves(machine_.size()))
    copies_ = std::make_shared<copy_plan>(machine_, state_, layout_, values_.data(), element_, pitch_);
  clear_words();
}

region_memory::region_memory(region_memory&&) noexcept = default;
region_memory& region_memory::operator=(region_memory&&) noexcept = default;
region_memory::~region_memory() = default;

// A table of which every PE has its own.
template <class V>
sym<const V> region_memory::keep(const std::vector<std::vector<V>>& of_pes) {
  std::size_t most = 1;
  for (const auto& list : of_pes) most = std::max(most, list.size());
  auto table = machine_.allocate<std::byte>(static_cast<index_t>(most * sizeof(V)));
  for (std::size_t pe = 0; pe < of_pes.size(); ++pe)
    if (!of_pes[pe].empty() && machine_.is_local(static_cast<int>(pe)))
      machine_.copy(table.on(static_cast<int>(pe)), of_pes[pe].data(), of_pes[pe].size() * sizeof(V));
  const sym<std::byte> start = table.data();
  tables_.push_back(std::move(table));
  return {reinterpret_cast<const V*>(start.on(0)), start.stride_bytes()};
}

void region_memory::keep_layout() {
  const region_layout& l = *layout_;
  const int pes = machine_.size();
  bounds_ = std::make_unique<std::vector<index_t>>(1, 0);
  for (const part_layout& p : l.parts) bounds_->push_back(p.elements.end);
  state_.bounds = keep(on_each(pes, *bounds_));
  state_.chunk_at = keep(on_each(pes, l.chunk_at));
  state_.readers = keep(on_each(pes, readers_of(l)));
  if (!l.subscribers.empty()) {
    const auto got = got_by(l);
    std::vector<std::vector<std::int32_t>> n_got;
    for (const auto& list : got) n_got.push_back({static_cast<std::int32_t>(list.size())});
    state_.subscribers = keep(on_each(pes, l.subscribers));
    state_.got = keep(got);
    state_.n_got = keep(n_got);
  }
  state_.tile_at = keep(of_parts(l, &part_layout::tile_at));
  state_.ranges = keep(of_parts(l, &part_layout::ranges));
  state_.range_at = keep(of_parts(l, &part_layout::range_at));
  state_.tile_chunks = keep(of_parts(l, &part_layout::chunks));
  state_.tile_chunk_at = keep(of_parts(l, &part_layout::chunk_at));
  state_.writers = keep(of_parts(l, &part_layout::writers));
  if (!state_.flushes) return;
  const chunk_writers by_chunk = writers_of(l);
  state_.chunk_tiles = keep(by_chunk.tiles);
  state_.chunk_tile_at = keep(by_chunk.begins);
}

void region_memory::allocate_words() {
  const index_t chunks = most_chunks_of_a_part(*layout_);
  const index_t agents = state_.agent_blocks;
  // An agent that lags has at most the chunks of all buffers before it, and the end.
  const index_t slots = (state_.buffers + 1) * ceil_div(chunks, agents) + 2;
  state_.queue_slots = static_cast<int>(slots);
  const index_t committed = chunks * state_.buffers;
  const index_t kept = static_cast<index_t>(state_.chunks) * state_.buffers;
  index_t tiles = 0, written = 0;  // what flushes look at
  for (const part_layout& p : layout_->parts) {
    if (!state_.flushes) break;
    tiles = std::max<index_t>(tiles, p.tiles());
    written = std::max(written, static_cast<index_t>(p.chunks.size()) * state_.buffers);
  }
  counters_ = machine_.allocate<std::uint64_t>(4 * committed + 2 * chunks + kept + tiles + written + state_.buffers +
                                               agents + 3);
  sym<std::uint64_t> counter = counters_.data();
  const auto counters = [&](index_t n) { return std::exchange(counter, counter + n); };
  state_.committed = counters(committed);
  state_.stored = counters(committed);
  state_.left_out = counters(chunks);
  state_.kept = counters(kept);
  state_.in_pieces = counters(committed);
  state_.shipped = counters(committed);
  state_.done = counters(tiles);
  state_.flushed = counters(written);
  state_.given = counters(state_.buffers);
  state_.tickets = counters(agents);
  state_.handed = counters(chunks);
  state_.ended = counters(1);
  state_.reached = counters(1);
  state_.newest = counters(1);
  signals_ = machine_.allocate<signal>(state_.chunks + chunks + machine_.size() + agents * (slots + 1));
  sym<signal> next = signals_.data();
  const auto signals = [&](index_t n) { return std::exchange(next, next + n); };
  state_.arrived = signals(state_.chunks);
  state_.sent = signals(chunks);
  state_.credit = signals(machine_.size());
  state_.served = signals(agents);
  state_.filled = signals(agents * slots);
  if (state_.agent == region_agent::own_warp) {
    rings_ = machine_.allocate<region_rings>(1);
    state_.rings = {rings_.on(0), rings_.data().stride_bytes()};
  }
  items_ = machine_.allocate<region_item>(agents * slots);
  state_.items = items_.data();
}

// What not every region has.
void region_memory::allocate_measuring(const region_options& o) {
  const index_t agents = state_.agent_blocks;
  if (links_.any() && (machine_.size() > 1 || o.subscribers.host()) && !machine_.checking()) {
    due_ = machine_.allocate<region_due>(agents * state_.queue_slots);
    state_.due = due_.data();
    state_.latency_ns = static_cast<std::uint64_t>(1e9 * links_.latency_seconds);
    if (links_.bytes_per_second > 0) state_.ns_per_byte = 1e9 * static_cast<double>(agents) / links_.bytes_per_second;
  }
  if (o.verify && machine_.size() > 1 && state_.sending == region_sending::all) {
    const index_t of_buffers = index_t{state_.buffers} * state_.chunks;
    hashes_ = machine_.allocate<std::uint64_t>(of_buffers + state_.chunks);
    state_.hashes = hashes_.data();
    state_.verified = hashes_.data() + of_buffers;
  }
  if (o.timed && state_.sending != region_sending::untracked) {
    times_ = machine_.allocate<std::uint64_t>(region_state::of_chunks + 2 * index_t{most_chunks_of_a_part(*layout_)});
    state_.times = times_.data();
  }
}

void region_memory::clear_words() {
  clear_rings();
  if (copies_) copies_->clear();
  if (host_arrived_.data() != nullptr) machine_.fill(host_arrived_.data(), 0, host_arrived_.size());
  for (auto pe = static_cast<int>(machine_.local_pes().begin); pe < machine_.local_pes().end; ++pe) {
    machine_.fill(counters_.on(pe), 0, static_cast<std::size_t>(counters_.size()) * sizeof(std::uint64_t));
    machine_.fill(signals_.on(pe), 0, static_cast<std::size_t>(signals_.size()) * sizeof(signal));
    for (symmetric_array<std::uint64_t>* words : {&hashes_, &times_})
      if (words->allocated())
        machine_.fill(words->on(pe), 0, static_cast<std::size_t>(words->size()) * sizeof(std::uint64_t));
  }
}

void region_memory::begin() {
  machine_.meet();  // nobody reads what the run before has left any more
  for (auto pe = static_cast<int>(machine_.local_pes().begin); pe < machine_.local_pes().end; ++pe) {
    machine_.fill(state_.ended.on(pe), 0, sizeof(std::uint64_t));
    if (times_.allocated())
      machine_.fill(times_.on(pe), 0, static_cast<std::size_t>(times_.size()) * sizeof(std::uint64_t));
  }
}

index_range region_memory::part(int pe) const {
  expect<range_error>(pe >= 0 && pe < machine_.size(), "region::part: PE ", pe, " of a machine with ", machine_.size(),
                      "; PEs are numbered from 0");
  return layout_->parts[static_cast<std::size_t>(pe)].elements;
}

int region_memory::chunk_of(index_t element) const {
  expect<range_error>(element >= 0 && element < state_.size, "region::chunk_of: element ", element,
                      " of a region with ", state_.size, "; elements are numbered from 0");
  std::size_t pe = 0;
  while (element >= layout_->parts[pe].elements.end) ++pe;
  const index_t of_part = (element - layout_->parts[pe].elements.begin) / layout_->chunk_elements;
  return layout_->chunk_at[pe] + static_cast<int>(of_part);
}

int region_memory::tiles(int pe) const { return layout_->parts[static_cast<std::size_t>(pe)].tiles(); }

int region_memory::blocks_in_launch() const {
  if (state_.agent != region_agent::polling || !state_.has_agent() || !state_.leaves(n_pes())) return 0;
  // They wait for blocks that write, and a plain launch is not known to fit: each multiprocessor holds a block at
  // least.
  for (int pe = 0; pe < n_pes() && machine_.kind() == machine_kind::cuda; ++pe)
    expect<launch_error>(state_.agent_blocks < machine_.device(pe).multiprocessors,
                         "region_options::agent_blocks = ", state_.agent_blocks, " in a launch on PE ", pe,
                         ", which has ", machine_.device(pe).multiprocessors,
                         " multiprocessors; a block of the agent may take one for itself: use fewer");
  return state_.agent_blocks;
}

void region_memory::check_launch(int blocks, const launch_options& options) const {
  expect<argument_error>(blocks >= 1, "region::launch: ", blocks, " blocks; must be at least 1");
  expect<argument_error>(!options.resident,
                         "region::launch: launch_options::resident; blocks of a launch that writes a region do not "
                         "meet: use machine::run and region::programs");
  const std::string problem = for_programs_alone();
  expect<argument_error>(problem.empty(), "region::launch: ", problem);
}

void region_memory::launch(stream& s, int blocks, const kernel& k, const launch_options& options, int buffer) const {
  if (copies_) return copies_->launch(s, blocks, k, options, buffer);
  s.launch_kernel(blocks, k, options);
}

std::shared_ptr<rotation> region_memory::turn(int pe) const {
  if (!copies_) return nullptr;
  expect<range_error>(pe >= 0 && pe < n_pes(), "region::launch: a stream of PE ", pe, " of a machine with ", n_pes(),
                      "; use a stream of the region's machine");
  return copies_->turn(pe);
}

std::shared_ptr<triggered_copies> region_memory::copies() const { return copies_; }

std::string region_memory::for_programs_alone() const {
  if (state_.agent == region_agent::own_warp || state_.agent == region_agent::launched ||
      state_.agent == region_agent::bulk_polling)
    return message("region_options::agent = ", name(state_.agent),
                   "; launches and tasks take inline_stores, polling and copy_engine");
  if (state_.sending == region_sending::untracked)
    return "region_options::sending = untracked, where nothing counts epochs; it is for programs";
  return {};
}

void region_memory::load(const std::byte* values) {
  ++loads_;
  machine_.meet();  // nobody reads what was there any more
  clear_words();
  // Of what is not sent, all buffers hold these values, so that kernels compute with numbers.
  const int buffers = state_.sending == region_sending::all ? 1 : state_.buffers;
  const index_t of_buffer = pitch_ * static_cast<index_t>(element_);
  for (auto pe = static_cast<int>(machine_.local_pes().begin); pe < machine_.local_pes().end; ++pe)
    for (int k = 0; k < buffers; ++k)
      machine_.copy(values_.on(pe) + k * of_buffer, values, static_cast<std::size_t>(state_.size) * element_);
  for (int k = 0; k < buffers && host_values_.data() != nullptr; ++k)
    machine_.copy(host_values_.data() + k * of_buffer, values, static_cast<std::size_t>(state_.size) * element_);
}

std::uint64_t region_memory::host_epoch() const {
  expect<argument_error>(state_.to_host(),
                         "region: the host has no copy; make the region with subscribers::and_host()");
  std::uint64_t least = ~std::uint64_t{0};
  for (int c = 0; c < state_.chunks; ++c)
    least = std::min(least, gpu::system_atomic(state_.host_arrived[c].value).load(cuda::memory_order_acquire));
  return least;
}

void region_memory::wait_host(std::uint64_t epoch, double deadline) const {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  for (std::uint64_t last = host_epoch(); last < epoch; last = host_epoch()) {
    expect<region_error>(std::chrono::duration<double>(clock::now() - start).count() < deadline,
                         "region::wait_host: epoch ", epoch, " is not there after ", deadline,
                         " s; the host has epoch ", last, ". Does a kernel write it, and may a wait take longer?");
    std::this_thread::yield();
  }
}

const std::byte* region_memory::on_host(std::uint64_t epoch) const {
  const std::uint64_t last = host_epoch();
  expect<argument_error>(epoch <= last && epoch + static_cast<std::uint64_t>(state_.buffers) > last,
                         "region::on_host: epoch ", epoch, " of a copy whose last is ", last, "; with ", state_.buffers,
                         " buffers it has so many epochs, the last one included");
  return host_values_.data() + state_.buffer_of(epoch) * pitch_ * static_cast<index_t>(element_);
}

std::uint64_t region_memory::epoch() const { return last_epoch(machine_, state_, *layout_); }

void region_memory::check_held(std::uint64_t epoch) const {
  const std::uint64_t last = this->epoch();
  expect<argument_error>(epoch <= last && epoch + static_cast<std::uint64_t>(state_.buffers) > last,
                         "region::read: epoch ", epoch, " of a region whose last is ", last, "; with ", state_.buffers,
                         " buffers it has so many epochs, the last one included");
}

void region_memory::copy_out(int pe, std::uint64_t epoch, index_range elements, std::byte* values) const {
  const auto bytes = [&](index_t n) { return n * static_cast<index_t>(element_); };
  const std::byte* start = values_.on(pe) + bytes(state_.buffer_of(epoch) * pitch_ + elements.begin);
  machine_.copy(values + bytes(elements.begin), start, static_cast<std::size_t>(bytes(elements.size())));
}

void region_memory::read(int pe, std::uint64_t epoch, std::byte* values) const {
  expect<range_error>(pe >= 0 && pe < machine_.size(), "region::read: PE ", pe, " of a machine with ", machine_.size(),
                      "; PEs are numbered from 0");
  check_held(epoch);
  copy_out(pe, epoch, {0, state_.size}, values);
}

void region_memory::collect(std::uint64_t epoch, std::byte* values) const {
  check_held(epoch);
  for (int pe = 0; pe < machine_.size(); ++pe) copy_out(pe, epoch, part(pe), values);
}

}  // namespace starling
