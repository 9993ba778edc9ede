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

  void mark(host_stream& s, host_event& e);
  void await(host_stream& s, const host_event& e);
  // An event outside of the recording.
  void await(host_stream& s, std::shared_ptr<event_record> p);

  // Streams and events go back to normal. Throws argument_error if a stream that joined was not joined back.
  void close(bool check);

  struct work {
    step_kind kind;
    host_stream::operation run;
    check::host_ranges touched;
    bool always;  // also after one that has thrown
  };
  void add(host_stream& s, work w) { join(s).steps.emplace_back(std::move(w)); }

  struct mark_slot {
    std::size_t slot;
  };
  struct await_slot {
    std::size_t slot;
  };
  struct await_point {
    std::shared_ptr<event_record> what;
  };
  using step = std::variant<work, mark_slot, await_slot, await_point>;
  struct lane {
    std::shared_ptr<host_stream> recorded_on;  // while recording: the caller may drop its streams and events meanwhile
    int pe;
    std::vector<step> steps;
  };
  std::vector<lane> lanes;  // the origin's first
  std::size_t slots = 0;
  std::vector<std::shared_ptr<void>> kept;  // what the operations need

  std::size_t operations() const;
  // Same lanes with the same kinds of steps.
  bool same_shape(const recording& other) const;

 private:
  lane& join(host_stream& s);

  std::vector<std::size_t> lane_of_slot_;
  std::vector<std::shared_ptr<host_event>> events_;
};

// Replays a recording: the origin's lane on the launching stream, the others on streams of the graph's own.
class host_graph final : public graph_backend {
 public:
  explicit host_graph(std::shared_ptr<recording> work);
  // Of work that another graph has too.
  host_graph(std::shared_ptr<host_backend> device, std::shared_ptr<recording> work);
  void launch(stream_backend& s) override;
  std::size_t operations() const override { return work_->operations(); }

  // Does this work from now on; true if it has the shape of the work before.
  bool become(std::shared_ptr<recording> work);
  std::shared_ptr<graph_backend> loop(const loop_condition& c) const override;

 private:
  static std::vector<std::shared_ptr<host_stream>> helpers_for(const std::shared_ptr<host_backend>& device,
                                                               const recording& work);
  void let_go();  // of the streams that were recorded on

  std::shared_ptr<host_backend> device_;
  std::shared_ptr<recording> work_;
  std::vector<std::shared_ptr<host_stream>> helpers_;  // for lanes 1, 2, ...; launches under way keep them
};

std::unique_ptr<recording_backend> start_host_recording(host_stream& origin);

}  // namespace starling::host
