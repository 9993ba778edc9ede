// How a context does its work.
#pragma once

#include <cstddef>
#include <memory>

#include "starling/stf/allocator.hpp"
#include "starling/stf/resources.hpp"

namespace starling::stf {

enum class backend_kind {
  stream,      // tasks go into streams as they are submitted
  graph,       // the tasks of an epoch, which fence() ends, become one graph; graphs are kept and updated
  automatic,   // epochs are measured both ways, and those that come again do what was faster
  persistent,  // as stream, but repeat and repeat_while each run as one persistent program on the devices
};

struct context_options {
  backend_kind backend = backend_kind::stream;
  // Most bytes of each device that the context takes; instances that do not fit move to the host and come back when
  // they are needed. Composite places are not counted. 0: all there is.
  std::size_t device_memory = 0;
  // Executable graphs that are kept for reuse.
  int graphs_kept = 16;
  // Remember tasks and their order, for dot() and mermaid().
  bool drawing = false;
  // What it shares with other contexts of the same machine: stf::resources. Null: it has all of its own. Memory is not
  // shared in check mode.
  std::shared_ptr<resource_pool> resources = {};
  // Where the memory of its places comes from; null: from the machine. A cap is taken in one piece. Composite places
  // and managed memory have theirs from the machine.
  std::shared_ptr<allocator> device_allocator = {};
  std::shared_ptr<allocator> host_allocator = {};
};

}  // namespace starling::stf
