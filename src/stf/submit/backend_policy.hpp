// backend_policy: whether an epoch's tasks go into streams or become a graph. Epochs of one signature, the sum of what
// their tasks are, first run on streams, then as graphs, each measured; from then on they do what was faster. The
// signature of the epoch that begins is not known yet: it is taken to be what followed last time. Pure: the same calls
// give the same choices. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "starling/stf/context_options.hpp"
#include "starling/stf/statistics.hpp"

namespace starling::stf {

class backend_policy {
 public:
  // Epochs of a signature on each back end before the choice. The first of each is not counted: on streams it pays for
  // what first runs need, as a graph for the making of the graph.
  static constexpr std::uint64_t tries = 4;
  // Signatures that are remembered; the least recently seen goes.
  static constexpr std::size_t most_signatures = 256;

  // For the epoch that begins.
  backend_kind next() const;
  // Whether its time is of interest.
  bool wants_time() const;

  // An epoch of so many tasks has been submitted, with this back end; `timed`: its time will be given.
  void ended(std::uint64_t signature, std::uint64_t tasks, backend_kind used, bool timed);
  // It took so long, from the first task or the end of the epoch before, whichever was later, to its end. In the order
  // of the epochs.
  void measured(std::uint64_t signature, backend_kind used, double seconds);
  // Epochs like the one that should have begun, and like this one if there was one, cannot be recorded: streams from
  // now on.
  void refuse(const std::string& why);
  void refuse(std::uint64_t signature, const std::string& why);

  std::vector<epoch_class_usage> choices() const;

 private:
  struct times {
    std::uint64_t epochs = 0;
    std::uint64_t timed = 0;
    std::uint64_t samples = 0;
    double best = 0;  // what disturbs only makes longer; the first is not counted
    bool known() const { return samples > 1; }
  };
  struct entry {
    std::uint64_t number = 0;  // as they came
    std::uint64_t tasks = 0;
    times on_streams;
    times as_graph;
    std::string refused;  // why it cannot be recorded
    std::uint64_t followed_by = 0;
    bool followed = false;
    std::uint64_t last_seen = 0;
  };
  const entry* expected() const;
  entry& of(std::uint64_t signature);
  static backend_kind choice(const entry& e);
  static bool settled(const entry& e);

  std::map<std::uint64_t, entry> entries_;
  std::uint64_t last_ = 0;
  bool any_ = false;
  std::uint64_t seen_ = 0;
};

}  // namespace starling::stf
