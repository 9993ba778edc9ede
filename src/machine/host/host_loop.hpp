// A loop of recorded work on virtual devices: one operation of the launching stream, which launches the work on streams
// of its own, waits, and looks. In check mode it does the work itself, one step after the other.
#pragma once

#include <memory>

#include "host_graph.hpp"

namespace starling::host {

class host_loop final : public graph_backend {
 public:
  // Throws range_error when the flag is not in one live allocation.
  host_loop(std::shared_ptr<host_backend> device, std::shared_ptr<recording> work, const loop_condition& c);

  void launch(stream_backend& s) override;
  std::size_t operations() const override;

 private:
  class runner;
  std::shared_ptr<runner> runner_;  // launches under way keep it
};

}  // namespace starling::host
