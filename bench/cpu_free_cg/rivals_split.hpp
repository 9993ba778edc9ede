// A matrix dealt to GPUs by rows, as a host-controlled solver needs it: columns renumbered, first those of the GPU's
// own rows, then the halo, by owner; and what each GPU sends.
#pragma once

#include <cstdint>
#include <vector>

#include "cg/names.hpp"

namespace starling::bench {

// The rows of one GPU.
struct local_rows {
  index_t first = 0;                // of the whole matrix
  std::vector<std::int32_t> start;  // [rows + 1]
  std::vector<std::int32_t> column;
  const double* value = nullptr;       // of the whole matrix, from the first row on
  std::vector<std::int32_t> halo;      // columns of the whole matrix, in order
  std::vector<index_t> halo_of_owner;  // [GPUs + 1]: where the owner's part of the halo starts

  index_t rows() const { return static_cast<index_t>(start.size()) - 1; }
  index_t entries() const { return start.back(); }
};

// Where each GPU's rows start, [GPUs + 1]: equal numbers of entries.
std::vector<index_t> first_rows(const cg::csr_view<double>& a, int gpus);

// The part of one GPU.
local_rows rows_of(const cg::csr_view<double>& a, const std::vector<index_t>& first, int gpu);

}  // namespace starling::bench
