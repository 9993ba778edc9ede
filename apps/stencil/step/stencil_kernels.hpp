// The kernels of the stencil, by element type and dimension, ready to launch.
#pragma once

#include "starling/machine/kernel.hpp"
#include "stencil/core/fields.hpp"
#include "stencil/step/interior_partition.hpp"

namespace starling::stencil {

// What block::scratch gives out in each of these kernels: room for the box and the tile queue, and for the list
// of a block's chunks.
inline constexpr std::size_t scratch_bytes = 320;
inline constexpr std::size_t scratch_bytes_per_chunk = 64;

// One step that the host launches.
template <class T>
struct step_arguments {
  fields<T> f;
  index_t time_level = 0;
  bool compute = true;
  bool check = false;                // find the largest change
  bool store_to_peers = false;       // faces go to receive buffers of the neighbours; otherwise to the send buffer
  interior_partition interior = {};  // among the blocks of a launch
};

// Everything, the boundary alone, the interior alone. With check, each block leaves its largest change in
// changes[first_change + block].
enum class step_part { whole, boundary, interior };
template <class T>
kernel step_kernel(const step_arguments<T>& arguments, step_part part, int first_change);

// Puts the faces of a time level into the neighbours' receive buffers as they are.
template <class T>
kernel publish_kernel(const fields<T>& f, index_t time_level);

// The persistent program.
struct program_status {
  index_t time_level;
  double change;
};

// What each of the persistent programs is told of a run.
struct persistent_run {
  index_t first = 0;  // time level that the arrays hold
  index_t steps = 0;
  index_t check_every = 0;
  double tolerance = 0;
  bool compute = true;
  bool uniform_weights = false;  // in two dimensions: all neighbours have the same weight
  sym<program_status> status;
};

template <class T>
struct cpu_free_arguments : persistent_run {
  fields<T> f;
  index_t first_message = 1;  // number of its packets; greater than those of all earlier runs
  bool packets = false;       // how faces travel; otherwise put with signal, receive buffers of `first` in place
  int chunks = 1;             // per face
  int chunks_per_block = 1;   // at most, of those blocks that do the boundary
  index_t chunk_cells[axes] = {1, 1, 1};  // in a chunk of a face across each axis, a whole number of packets
  bool faces_meet = false;                // some cell lies on two faces
  bool in_rows = false;                   // none does, and rows of faces are rows of the arrays, of whole strips
  int boundary_role = 0;                  // blocks that do the boundary
  int interior_role = 0;                  // blocks that do the interior; the same number: every block does both
  interior_partition interior = {};       // among these
};
template <class T>
kernel cpu_free_kernel(const cpu_free_arguments<T>& arguments);

// One step that the host launches, whose blocks wait for the neighbours' signals. Which step it is stands in memory, so
// that a recorded launch can be repeated.
template <class T>
struct flagged_step_arguments {
  cpu_free_arguments<T> a;
  sym<index_t> reached;     // the time level before the first of the steps launched together
  index_t ahead = 1;        // this is so many after it
  int boundary_blocks = 0;  // blocks that do the boundary alone; 0: every block does both
  bool check = false;       // find the largest change
};
template <class T>
kernel flagged_step_kernel(const flagged_step_arguments<T>& arguments);

// Puts the faces of a time level into the neighbours' receive buffers, raises their signals, and sets `reached`.
template <class T>
kernel announce_kernel(const flagged_step_arguments<T>& arguments, index_t time_level);

// Adds to `reached`.
kernel count_kernel(sym<index_t> reached, index_t steps);

}  // namespace starling::stencil
