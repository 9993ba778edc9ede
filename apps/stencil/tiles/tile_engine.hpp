// Cells on chip: one persistent program whose blocks keep a tile each and send each other its edges (`resident`, and
// `temporal` where the tiles fit).
#pragma once

#include "stencil/core/domain.hpp"
#include "stencil/core/prepared_run.hpp"
#include "stencil/plan/tile_choice.hpp"

namespace starling::stencil {

template <class T>
class tile_engine {
 public:
  // Throws launch_error when the tiles do not fit.
  prepared_run prepare(domain<T>& d, const tile_choice& tiles, const run_options& options);

 private:
  void advance(domain<T>& d, const tile_choice& tiles, const run_options& options, run_result& result);

  symmetric_array<packet> packet_buffer_;
  symmetric_array<T> memory_;  // of cells that no block has room for
};

}  // namespace starling::stencil
