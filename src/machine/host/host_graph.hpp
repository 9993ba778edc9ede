// Recorded work of virtual devices: for every stream that took part its operations, with marks and waits between them.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "host_stream.hpp"

namespace starling::host {

// What one recording has collected. A slot is one record of an event.
class recording : public std::enable_shared_from_this<recording> {
 public:
  explicit recording(host_stream& origin) { join(origin); }

  void add(host_stream& s, host_stream::operation op);
  void mark(host_stream& s, host_event& e);
  void await(host_stream& s, const host_event& e);

  // Streams and events go back to normal. Throws argument_error if a stream that joined was not joined back.
  void close(bool check);

  struct mark_slot {
    std::size_t slot;
  };
  struct await_slot {
    std::size_t slot;
  };
  using step = std::variant<host_stream::operation, mark_slot, await_slot>;
  struct lane {
    std::shared_ptr<host_stream> recorded_on;  // while recording: the caller may drop its streams and events meanwhile
    std::vector<step> steps;
  };
  std::vector<lane> lanes;  // the origin's first
  std::size_t slots = 0;

 private:
  lane& join(host_stream& s);

  std::vector<std::size_t> lane_of_slot_;
  std::vector<std::shared_ptr<host_event>> events_;
};

// Replays a recording: the origin's lane on the launching stream, the others on streams of the graph's own.
class host_graph final : public graph_backend {
 public:
  explicit host_graph(std::shared_ptr<recording> work);
  void launch(stream_backend& s) override;

 private:
  std::shared_ptr<recording> work_;
  std::vector<std::shared_ptr<host_stream>> helpers_;  // for lanes 1, 2, ...; launches under way keep them
};

std::shared_ptr<graph_backend> record_graph(host_stream& origin, const std::function<void()>& work);

}  // namespace starling::host
