// A loop of recorded work on virtual devices: one operation of the launching stream, which launches the work on streams
// of its own, waits, and looks.
#pragma once

#include <memory>

#include "host_graph.hpp"

namespace starling::host {

class host_loop final : public graph_backend {
 public:
  // A flag is in one live allocation.
  host_loop(const std::shared_ptr<host_backend>& device, const std::shared_ptr<recording>& work,
            const loop_condition& c);

  void launch(stream_backend& s) override;
  std::size_t operations() const override;

 private:
  class runner;
  std::shared_ptr<runner> runner_;  // launches under way keep it
};

}  // namespace starling::host
