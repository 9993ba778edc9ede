#include <algorithm>
#include <utility>

#include "copy_plan.hpp"
#include "layout.hpp"
#include "starling/region/region.hpp"

namespace starling {
namespace {

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
  if (agent != region_agent::polling && agent != region_agent::launched) return 1;
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
  // On GPUs, stores in place and warps beside a block's threads know no network cards.
  const bool direct_alone = o.agent == region_agent::inline_stores || o.agent == region_agent::own_warp;
  if (direct_alone && machine_.kind() == machine_kind::cuda)
    for (int pe = 0; pe < machine_.size(); ++pe)
      expect<unsupported_error>(machine_.host_of(pe) == machine_.host_of(0), "region: the agent ", name(o.agent),
                                ", whose stores do not reach PE ", pe, " of another host; take polling");
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
  if (state_.agent == region_agent::own_warp || state_.agent == region_agent::launched)
    return message("region_options::agent = ", name(state_.agent),
                   "; launches and tasks take inline_stores, polling and copy_engine");
  if (state_.sending == region_sending::untracked)
    return "region_options::sending = untracked, where nothing counts epochs; it is for programs";
  return {};
}

}  // namespace starling
