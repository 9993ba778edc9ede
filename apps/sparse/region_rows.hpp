// Iterations x' = f(A x) over a region: the rows of A are partitioned among PEs and cut into tiles of about equally
// many entries, and the tile that makes some elements of x' is the tile of the region that sends them. Owns the matrix
// and the region.
//
// A kernel, which programs() launches, makes a tile_product of tiles(), and in each epoch awaits the one before, and
// for each tile multiplies with old.data() and stores what it makes of it.
#pragma once

#include <functional>
#include <limits>

#include "sparse/iteration_log.hpp"
#include "sparse/matrix.hpp"
#include "sparse/tile_inputs.hpp"
#include "sparse/tile_product.hpp"
#include "starling/region/region.hpp"

namespace starling::sparse {

// The most threads of a block: with more, a thread has too few registers for a chunk of the matrix and the next one.
inline constexpr int most_iteration_threads = 512;

struct iteration_options {
  region_agent agent = region_agent::polling;
  std::size_t chunk_bytes = 0;  // 0: as the region's
  int agent_blocks = 0;         // 0: chosen by the region
  int tiles = 0;                // of each PE; 0: chosen
  int blocks = 0;               // that compute, of each PE; 0: chosen
  int threads = 0;              // of a block, on GPUs; 0: chosen
  double deadline = 0;          // seconds a wait may last; 0: the machine's
  bool halo_only = false;       // a PE gets the chunks that its rows read, not all; kernels give credit then

  // For measuring and finding mistakes: see region_options. Results are wrong with another `sending` than all.
  region_sending sending = region_sending::all;
  paced links = {};
  bool verify = false;
  bool timed = false;
};

// Throws argument_error for counts that make no sense.
void check(const iteration_options& options);

int threads_of(const iteration_options& options);

// The tiles of a PE, between what their work and what sending them in time asks for: no more than keep the blocks of a
// multiprocessor equally long at work, and as many for each of `blocks`. Virtual devices take `most`.
index_t tiles_worth_their_counting(const machine& m, index_t most, index_t least, int blocks);

// What a region of so many PEs has of them, credits where only halos are sent; the caller adds tiles, bounds and
// subscribers.
region_options region_options_of(const iteration_options& options, int pes);

// The blocks of a kernel on each PE: those asked for, else what fits beside the agent; one for each core that a virtual
// device can have.
int blocks_for(const machine& m, const iteration_options& options, int blocks_that_fit, int tiles);

// How many blocks of a kernel compute on a PE, launched so.
using blocks_of_launch = std::function<int(const launch_options&)>;

// Of kernels of type F, whatever their members are, beside the agent that the options ask for. Said before there is
// the region, whose tiles depend on it.
template <class F, class T>
blocks_of_launch blocks_beside_agent(const machine& m, const iteration_options& options) {
  return [on = m, options](const launch_options& how) mutable {
    if (on.kind() == machine_kind::host) return 1;  // whose tiles do not depend on it
    constexpr index_t line = 128 / static_cast<index_t>(sizeof(T));
    region_options one_tile = region_options_of(options, on.size());
    one_tile.tiles = region_mapping::one_to_one(line);
    const region<T> smallest(on, on.size() * line, one_tile);
    const int fit = smallest.blocks_that_fit(with_own_warp{F{}}, how);
    return blocks_for(on, options, fit, std::numeric_limits<int>::max());
  };
}

template <class T>
class region_rows {
 public:
  // `values`: whether entries have some; `padding`: see matrix; `blocks`: of the kernel.
  region_rows(const machine& m, const csr_view<T>& a, const iteration_options& options, entry_values values, T padding,
              const blocks_of_launch& blocks);

  machine& device() { return machine_; }
  iteration_log& log() { return log_; }
  // Of the iterations since the log began, with what the matrix and the region know of them.
  iteration_report report() const;
  region<T>& values() { return region_; }
  const matrix_data<T>& tiles() const { return tiles_; }
  int tiles_of_a_pe() const { return tiles_of_a_pe_; }
  index_range rows_of(int pe) const { return region_.part(pe); }
  index_t most_rows() const { return matrix_.most_rows(); }
  const matrix_facts& facts() const { return matrix_.facts(); }
  // Of each tile of each PE, as the matrix numbers them.
  std::vector<std::vector<index_range>> rows_of_tiles();
  // What each tile reads; `a` is the matrix of which this was made.
  tile_inputs inputs(const csr_view<T>& a);

  // An array with an element for each row of the PE, from one with all rows.
  symmetric_array<T> of_rows(const T* all);
  symmetric_array<T> of_rows();
  // Back again.
  void gather(const symmetric_array<T>& of_rows, T* all);

  // `scratch_bytes`: what the kernel takes beside the product.
  launch_options launch(std::size_t scratch_bytes = 0) const;
  template <kernel_function F>
  std::vector<program> programs(const F& f, std::size_t scratch_bytes = 0) {
    const launch_options how = launch(scratch_bytes);
    const with_own_warp kernel{f};
    const int fit = region_.blocks_that_fit(kernel, how);
    return region_.programs(blocks_for(machine_, options_, fit, tiles_of_a_pe_), kernel, how);
  }

 private:
  region<T> make_region(const csr_view<T>& a);

  machine machine_;
  iteration_options options_;
  matrix<T> matrix_;
  int tiles_of_a_pe_;
  region<T> region_;
  matrix_data<T> tiles_;
  iteration_log log_;
};

// What a region knows of iterations over it.
void add_region(iteration_report& to, const region_report& moved);

}  // namespace starling::sparse
