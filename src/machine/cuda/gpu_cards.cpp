#include "gpu_cards.hpp"

#include <algorithm>
#include <cstring>

#include "card_kernel.hpp"
#include "check.hpp"
#include "device_guard.hpp"
#include "starling/device/network/block_network.hpp"

namespace starling::on_cuda {
namespace {

constexpr std::size_t cache_line = 128;
std::size_t whole_lines(std::size_t bytes) { return (bytes + cache_line - 1) / cache_line * cache_line; }

// Queue pairs for every context that blocks may have are promised where they take no more than this on a PE; beyond it
// there is one for each block and PE behind the card at least.
constexpr std::size_t plenty = std::size_t{256} << 20;

std::size_t blocks_of(const std::vector<program>& programs) {
  std::size_t all = 0;
  for (const program& p : programs) all += static_cast<std::size_t>(p.roles.blocks());
  return all;
}

}  // namespace

gpu_cards::gpu_cards(const std::vector<gpu>& gpus, const driver_api& driver, symmetric_heap& control,
                     network::host_layout hosts, card kind, int depth, std::vector<reached_range> of_pes,
                     const reached_range& shared, const other_hosts* others)
    : gpus_(gpus),
      control_(control),
      hosts_(std::move(hosts)),
      kind_(kind),
      depth_(static_cast<std::uint32_t>(depth)),
      reached_(std::move(of_pes)) {
  constexpr std::size_t most_pes = 63;  // that a card has tables for
  expect<argument_error>(gpus_.size() <= most_pes, "machine::cuda: ", gpus_.size(), " PEs on several hosts; at most ",
                         most_pes, " can be");
  reached_.push_back(shared);
  for (const gpu& g : gpus_)
    expect<argument_error>(far_from(g.pe) <= static_cast<int>(network::most_queues_of_block), "machine::cuda: PE ",
                           g.pe, " has ", far_from(g.pe), " PEs on other hosts; a block of a GPU has queue pairs to ",
                           network::most_queues_of_block, " at most: use fewer PEs, or put more on each host");
  if (are_program()) return;
  for (int host = 0; host < hosts_.n_hosts(); ++host) {
    const std::span<const gpu> here = driven_here(gpus_);
    const auto first =
        std::find_if(here.begin(), here.end(), [&](const gpu& g) { return hosts_.host_of(g.pe) == host; });
    threads_.push_back(first == here.end() ? nullptr : std::make_unique<proxy_card>(driver, *first, others));
  }
}

gpu_cards::~gpu_cards() {
  if (room_ > 0) control_.free(offset_);
}

int gpu_cards::far_from(int pe) const {
  return static_cast<int>(
      std::count_if(gpus_.begin(), gpus_.end(), [&](const gpu& g) { return hosts_.apart(pe, g.pe); }));
}

std::uint32_t gpu_cards::queues_for(std::size_t blocks) const {
  int far = 1;
  for (const gpu& g : gpus_) far = std::max(far, far_from(g.pe));
  const std::size_t most = blocks * network::most_queues_of_block;
  const std::size_t least = blocks * static_cast<std::size_t>(far);
  return static_cast<std::uint32_t>(std::min(most, std::max(least, plenty / network::parts_of_queue(depth_).bytes)));
}

gpu_cards::places gpu_cards::places_for(std::size_t programs, std::size_t blocks) const {
  places p;
  std::size_t end = 0;
  const auto place = [&](std::size_t bytes) {
    const std::size_t at = end;
    end += whole_lines(bytes);
    return at;
  };
  const std::size_t queues = queues_for(blocks);
  p.views = place(programs * sizeof(network::card_view));
  p.hosts = place(gpus_.size() * sizeof(std::int32_t));
  p.regions = place((reached_.size() + gpus_.size()) * sizeof(network::memory_region));
  p.counts = place(sizeof(network::card_counts));
  p.records = place(queues * sizeof(std::uint64_t));
  p.progress = place(queues * sizeof(network::card_progress));
  p.tables = place(blocks * sizeof(std::byte*));
  p.queues = place(queues * network::parts_of_queue(depth_).bytes);
  p.bytes = end;
  return p;
}

sym<network::card_view> gpu_cards::views(std::size_t program) const {
  std::byte* first = at(places_.views, 0) + program * sizeof(network::card_view);
  return {reinterpret_cast<network::card_view*>(first), control_.where().stride};
}

std::vector<program> gpu_cards::with_cards(std::vector<program> programs) const {
  const std::size_t blocks = blocks_of(programs);
  program cards;
  cards.roles.add("card", 1);
  cards.k = card_kernel(room_ > 0 ? views(0) : sym<network::card_view>{}, blocks);
  cards.options.threads = card_threads;
  programs.push_back(std::move(cards));
  return programs;
}

void gpu_cards::prepare(const std::vector<program>& programs) {
  const std::size_t blocks = blocks_of(programs);
  places_ = places_for(programs.size(), blocks);
  make_room();
  n_queues_ = queues_for(blocks);
  device_guard guard;
  for (const gpu& g : driven_here(gpus_)) {
    guard.use(g.id);
    clear(g);
    tell(g, programs);
    check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize (network cards)", g.pe);
  }
}

void gpu_cards::make_room() {
  const std::size_t here = are_program() ? places_.bytes : places_.counts;
  if (here > room_) {
    if (room_ > 0) control_.free(offset_);
    room_ = 0;
    offset_ = control_.allocate(here);
    room_ = here;
  }
  if (are_program()) return;
  const std::size_t pinned = places_.bytes - places_.counts;
  words_.resize(gpus_.size());
  for (const gpu& g : driven_here(gpus_)) {
    auto& mine = words_[static_cast<std::size_t>(g.pe)];
    if (mine.size() >= pinned) continue;
    mine = {};
    mine = pinned_array<std::byte>(pinned, g.id);
  }
}

std::byte* gpu_cards::word_at(std::size_t place, int pe) const {
  return are_program() ? at(place, pe) : words_[static_cast<std::size_t>(pe)].data() + (place - places_.counts);
}

void gpu_cards::clear(const gpu& g) const {
  const std::size_t bytes = places_.queues - places_.counts;
  if (are_program())
    check(cudaMemsetAsync(at(places_.counts, g.pe), 0, bytes, g.service.get()), "cudaMemsetAsync (network cards)",
          g.pe);
  else
    std::memset(word_at(places_.counts, g.pe), 0, bytes);
}

void gpu_cards::start() {
  table_ = regions();
  for (std::size_t host = 0; host < threads_.size(); ++host) {
    if (threads_[host] == nullptr) continue;
    std::vector<network::card_view> pes;
    for (const gpu& g : driven_here(gpus_))
      if (hosts_.host_of(g.pe) == static_cast<int>(host)) {
        pes.push_back(view_of(g));
        pes.back().memory.regions = table_.data();  // not the GPU's
      }
    threads_[host]->start(std::move(pes), {table_.end() - static_cast<std::ptrdiff_t>(words_.size()), table_.end()});
  }
}

void gpu_cards::stop() {
  for (const auto& t : threads_)
    if (t != nullptr) t->stop();
}

// Those of PEs, what is shared, and where queues are that are in pinned memory.
std::vector<network::memory_region> gpu_cards::regions() const {
  std::vector<network::memory_region> all;
  for (const reached_range& r : reached_)
    all.push_back({reinterpret_cast<std::uintptr_t>(r.start), r.bytes, static_cast<std::uint32_t>(all.size()) + 1,
                   network::all_rights});
  for (const auto& w : words_)
    all.push_back({reinterpret_cast<std::uintptr_t>(w.data()), w.size(), static_cast<std::uint32_t>(all.size()) + 1,
                   network::all_rights});
  return all;
}

network::card_view gpu_cards::view_of(const gpu& g) const {
  const std::vector<network::memory_region> all = regions();
  network::card_view v;
  v.host_of = reinterpret_cast<const std::int32_t*>(at(places_.hosts, g.pe));
  v.memory = {reinterpret_cast<const network::memory_region*>(at(places_.regions, g.pe)),
              static_cast<int>(gpus_.size()), static_cast<int>(all.size())};
  v.queues = word_at(places_.queues, g.pe);
  v.records = reinterpret_cast<std::uint64_t*>(word_at(places_.records, g.pe));
  v.progress = reinterpret_cast<network::card_progress*>(word_at(places_.progress, g.pe));
  v.counts = reinterpret_cast<network::card_counts*>(word_at(places_.counts, g.pe));
  v.n_queues = n_queues_;
  v.depth = depth_;
  // A PE's symmetric memory holds its queues' staging memory too.
  const std::size_t staging =
      are_program() ? static_cast<std::size_t>(g.pe) : reached_.size() + static_cast<std::size_t>(g.pe);
  v.staging_key = all[staging].key;
  v.staged = are_program() ? 0 : network::staging_room;
  v.far = far_from(g.pe);
  v.pe = g.pe;
  return v;
}

void gpu_cards::tell(const gpu& g, const std::vector<program>& programs) const {
  std::vector<std::byte> head(places_.counts);
  const auto put = [&](std::size_t place, const void* from, std::size_t bytes) {
    std::memcpy(head.data() + place, from, bytes);
  };
  for (const gpu& other : gpus_) {
    const std::int32_t host = hosts_.host_of(other.pe);
    put(places_.hosts + static_cast<std::size_t>(other.pe) * sizeof host, &host, sizeof host);
  }
  const std::vector<network::memory_region> all = regions();
  put(places_.regions, all.data(), all.size() * sizeof(network::memory_region));
  network::card_view v = view_of(g);
  std::size_t blocks = 0;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    v.tables = reinterpret_cast<std::byte**>(word_at(places_.tables, g.pe)) + blocks;
    put(places_.views + i * sizeof v, &v, sizeof v);
    blocks += static_cast<std::size_t>(programs[i].roles.blocks());
  }
  check(cudaMemcpyAsync(at(0, g.pe), head.data(), head.size(), cudaMemcpyDefault, g.service.get()),
        "cudaMemcpyAsync (network cards)", g.pe);
  check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize (network cards)", g.pe);
}

}  // namespace starling::on_cuda
