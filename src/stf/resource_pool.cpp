#include "resource_pool.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "starling/base/error.hpp"

namespace starling::stf {

resources::resources(machine m, int graphs_kept) {
  expect<argument_error>(graphs_kept >= 0, "stf::resources: graphs_kept = ", graphs_kept, "; must be at least 0");
  pool_ = std::make_shared<resource_pool>(std::move(m), graphs_kept);
}

const machine& resources::on() const { return pool_->on(); }
resources::idle_resources resources::idle() const { return pool_->idle(); }
void resources::release() { pool_->release(); }

resource_pool::resource_pool(machine m, int graphs_kept)
    : machine_(std::move(m)), graphs_kept_(static_cast<std::size_t>(graphs_kept)) {}

std::unique_ptr<stream_pool> resource_pool::take_streams() {
  {
    const std::lock_guard lock(mutex_);
    if (!streams_.empty()) {
      std::unique_ptr<stream_pool> idle = std::move(streams_.back());
      streams_.pop_back();
      return idle;
    }
  }
  return std::make_unique<stream_pool>(machine_);
}

void resource_pool::give(std::unique_ptr<stream_pool> streams) noexcept {
  if (!streams->reset()) return;
  try {
    const std::lock_guard lock(mutex_);
    streams_.push_back(std::move(streams));
  } catch (const std::bad_alloc&) {  // they go
  }
}

slab_source resource_pool::memory_of(int pe) {
  return {[pool = shared_from_this(), pe](const slab_wish& w) { return pool->take_memory(pe, w); }};
}

slab resource_pool::take_memory(int pe, const slab_wish& w) {
  if (local_memory idle = take_idle(pe, w); idle.size() > 0) return lend(pe, std::move(idle));
  try {
    return lend(pe, allocate_on(machine_, pe, w));
  } catch (const memory_error&) {
    if (!release_memory(pe)) throw;
  }
  return lend(pe, allocate_on(machine_, pe, w));
}

local_memory resource_pool::take_idle(int pe, const slab_wish& w) {
  const auto distance = [&](const idle_memory& m) {
    const std::size_t bytes = m.memory.size();
    return bytes > w.wanted ? bytes - w.wanted : w.wanted - bytes;
  };
  const std::lock_guard lock(mutex_);
  auto best = memory_.end();
  for (auto i = memory_.begin(); i != memory_.end(); ++i) {
    const std::size_t bytes = i->memory.size();
    if (i->pe != pe || bytes < w.least || bytes > w.most) continue;
    if (best == memory_.end() || distance(*i) < distance(*best)) best = i;
  }
  if (best == memory_.end()) return {};
  local_memory found = std::move(best->memory);
  memory_.erase(best);
  return found;
}

slab resource_pool::lend(int pe, local_memory memory) {
  std::byte* const start = memory.data();
  const std::size_t bytes = memory.size();
  struct loan {
    std::shared_ptr<resource_pool> from;
    int pe;
    local_memory memory;
    loan(std::shared_ptr<resource_pool> pool, int place, local_memory lent)
        : from(std::move(pool)), pe(place), memory(std::move(lent)) {}
    ~loan() { from->give(pe, std::move(memory)); }
  };
  return {start, bytes, std::make_shared<loan>(shared_from_this(), pe, std::move(memory)), {}};
}

void resource_pool::give(int pe, local_memory memory) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    memory_.push_back({pe, std::move(memory)});
  } catch (const std::bad_alloc&) {  // it goes back to the machine
  }
}

bool resource_pool::release_memory(int pe) {
  std::list<idle_memory> gone;
  const std::lock_guard lock(mutex_);
  for (auto i = memory_.begin(); i != memory_.end();) {
    const auto next = std::next(i);
    if (i->pe == pe) gone.splice(gone.end(), memory_, i);
    i = next;
  }
  return !gone.empty();
}

std::optional<graph> resource_pool::take_graph(const epoch_summary& s) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(graphs_.begin(), graphs_.end(), [&](const graph_cache::entry& e) { return e.summary == s; });
  if (found == graphs_.end()) return std::nullopt;
  graph result = *found->executable;
  graphs_.erase(found);
  return result;
}

void resource_pool::give(graph_cache& graphs) noexcept {
  std::list<graph_cache::entry> too_many;
  std::list<graph_cache::entry> all = graphs.take_all();
  const std::lock_guard lock(mutex_);
  graphs_.splice(graphs_.begin(), all);
  while (graphs_.size() > graphs_kept_) too_many.splice(too_many.end(), graphs_, std::prev(graphs_.end()));
}

resources::idle_resources resource_pool::idle() const {
  const std::lock_guard lock(mutex_);
  resources::idle_resources now;
  now.contexts = static_cast<int>(streams_.size());
  now.graphs = static_cast<int>(graphs_.size());
  for (const idle_memory& m : memory_) now.bytes += m.memory.size();
  return now;
}

void resource_pool::release() {
  std::vector<std::unique_ptr<stream_pool>> streams;
  std::list<idle_memory> memory;
  std::list<graph_cache::entry> graphs;
  const std::lock_guard lock(mutex_);
  streams.swap(streams_);
  memory.swap(memory_);
  graphs.swap(graphs_);
}

void streams_owner::operator()(stream_pool* streams) const noexcept {
  std::unique_ptr<stream_pool> mine(streams);
  if (pool) pool->give(std::move(mine));
}

borrowed_streams borrow_streams(const machine& m, std::shared_ptr<resource_pool> pool) {
  expect<argument_error>(!pool || pool->on().impl() == m.impl(), "stf: a context on ", m.summary(),
                         " with resources of another machine (", pool ? pool->on().summary() : "",
                         "); make the resources of the same machine object, or of a copy of it");
  std::unique_ptr<stream_pool> streams = pool ? pool->take_streams() : std::make_unique<stream_pool>(m);
  return borrowed_streams(streams.release(), streams_owner{std::move(pool)});
}

}  // namespace starling::stf
