// The contexts by name: stream_ctx, graph_ctx and persistent_ctx, which are contexts with one way of doing their work.
// starling/stf/context.hpp includes this.
#pragma once

#include <utility>

#include "starling/stf/context.hpp"

namespace starling::stf {

// A context whose tasks go into streams.
class stream_ctx : public context {
 public:
  explicit stream_ctx(machine m = machine::best(), context_options options = {})
      : context(std::move(m), with(options)) {}
  // Within a stream of the user: the tasks of an epoch start after what it has when the first of them is submitted, and
  // its later work after finalize(), which waits for nothing: the user's memory has its values when the stream comes to
  // its end. What a body of the host throws comes from synchronize(), also after finalize. The end of the last handle
  // waits for the work, and frees its memory. If the stream is being recorded, everything becomes part of the graph,
  // which keeps that memory; the host cannot wait for tasks then, and all has to be finalized before the recording
  // ends.
  stream_ctx(machine m, const stream& user, context_options options = {})
      : context(std::move(m), with(options), user) {}

 private:
  static context_options with(context_options o) {
    o.backend = backend_kind::stream;
    return o;
  }
};

// A context whose tasks go into streams, but for those of repeat and repeat_while: these become one persistent program
// on all devices that they name, whose blocks wait for each other where the tasks' data says so, and for nothing else.
// The calls return when the program is over. Bodies may hold parallel_for and launch on devices. task_error for others:
// task, host_launch, the host as a place; launches whose blocks wait for each other; copies from or to the host in each
// round. stall_error names the task that a block waited for longer than STARLING_DEADLINE; what the tasks should have
// written has no value then.
class persistent_ctx : public context {
 public:
  explicit persistent_ctx(machine m = machine::best(), context_options options = {})
      : context(std::move(m), with(options)) {}

 private:
  static context_options with(context_options o) {
    o.backend = backend_kind::persistent;
    return o;
  }
};

// A context that makes a graph of the tasks of each epoch.
class graph_ctx : public context {
 public:
  explicit graph_ctx(machine m = machine::best(), context_options options = {})
      : context(std::move(m), with(options)) {}
  // Within a stream of the user, as stream_ctx is: a graph starts after what the stream has when its epoch ends, and
  // the stream's later work after finalize(). The stream must not be recorded.
  graph_ctx(machine m, const stream& user, context_options options = {}) : context(std::move(m), with(options), user) {}

 private:
  static context_options with(context_options o) {
    o.backend = backend_kind::graph;
    return o;
  }
};

}  // namespace starling::stf
