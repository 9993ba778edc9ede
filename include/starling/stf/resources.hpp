// resources: what contexts of one machine hand on to each other, so that one that comes later need not make it anew:
// the streams of tasks, the memory of places, and the graphs of epochs.
//
//   resources shared(m);
//   for (...) {
//     context ctx(m, {.resources = shared});   // takes what is idle, and makes what is not there
//     ...
//   }                                          // gives it back
//
// A handle: its copies, and contexts that were made with it, share what it owns, which lives as long as any of them.
// Thread-safe. Several contexts may use it at the same time; each has streams, memory and graphs of its own meanwhile.
#pragma once

#include <cstddef>
#include <memory>

#include "starling/machine/machine.hpp"

namespace starling::stf {

class resource_pool;

class resources {
 public:
  // `graphs_kept`: executable graphs that are kept while no context has them; those used last stay. Throws
  // argument_error for less than 0.
  explicit resources(machine m = machine::best(), int graphs_kept = 16);

  const machine& on() const;

  // What no context has at the moment.
  struct idle_resources {
    int contexts = 0;  // so many can have the streams of others before any are made
    int graphs = 0;
    std::size_t bytes = 0;  // of memory, of all places
  };
  idle_resources idle() const;
  // Gives that back to the machine.
  void release();

  // For context_options::resources.
  operator const std::shared_ptr<resource_pool>&() const { return pool_; }

 private:
  std::shared_ptr<resource_pool> pool_;
};

}  // namespace starling::stf
