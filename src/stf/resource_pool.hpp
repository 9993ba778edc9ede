// resource_pool: what a `resources` owns. Contexts borrow from it; what comes back is idle, with nothing in flight.
// Thread-safe.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "starling/stf/resources.hpp"
#include "stf/memory/slab.hpp"
#include "stf/order/stream_pool.hpp"
#include "stf/recordings/graph_cache.hpp"

namespace starling::stf {

class resource_pool : public std::enable_shared_from_this<resource_pool> {
 public:
  resource_pool(machine m, int graphs_kept);

  const machine& on() const { return machine_; }

  // Stream slots that nobody else has.
  std::unique_ptr<stream_pool> take_streams();
  // Their user has come to its end.
  void give(std::unique_ptr<stream_pool> streams) noexcept;

  // Memory of a place, which comes back when its owner goes.
  slab_source memory_of(int pe);

  // A graph of such an epoch, of a context that has gone.
  std::optional<graph> take_graph(const epoch_summary& s);
  // The graphs of a context that goes.
  void give(graph_cache& graphs) noexcept;

  resources::idle_resources idle() const;
  void release();

 private:
  struct idle_memory {
    int pe;
    local_memory memory;
  };
  slab take_memory(int pe, const slab_wish& w);
  // The idle piece that is nearest to what is wanted; or none.
  local_memory take_idle(int pe, const slab_wish& w);
  slab lend(int pe, local_memory memory);
  void give(int pe, local_memory memory) noexcept;
  // Whether there was any of that place.
  bool release_memory(int pe);

  machine machine_;
  const std::size_t graphs_kept_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<stream_pool>> streams_;
  std::list<idle_memory> memory_;
  std::list<graph_cache::entry> graphs_;  // the one used last comes first
};

// The slots of one context: those of its resources, which get them back, or its own.
struct streams_owner {
  std::shared_ptr<resource_pool> pool;  // null: none
  void operator()(stream_pool* streams) const noexcept;
};
using borrowed_streams = std::unique_ptr<stream_pool, streams_owner>;
// Throws argument_error when the resources are those of another machine.
borrowed_streams borrow_streams(const machine& m, std::shared_ptr<resource_pool> pool);

}  // namespace starling::stf
