// What is to be computed: a star stencil of radius 1 in two or three dimensions, and how a run of it goes.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "starling/base/index.hpp"
#include "stencil/core/geometry.hpp"

namespace starling::stencil {

enum class edge { fixed, periodic };

// new(cell) = c[0] * cell + c[1] * low + c[2] * high neighbour along the first axis + ... along the next, added in this
// order. Fixed edges keep the first and last layer of the array along their axis.
template <class T>
struct problem {
  std::vector<index_t> shape;   // 2 or 3 extents
  std::vector<T> coefficients;  // 5 or 7: the centre, then the low and high side of each axis
  std::vector<edge> edges;      // per axis; empty: all fixed
  std::vector<int> parts;       // PEs per axis, their product the size of the machine; empty: all along the first axis
};

// The mean of the neighbours: steps of Jacobi's method for Laplace's equation.
template <class T>
std::vector<T> jacobi_coefficients(int dimensions);

// One explicit step of the heat equation, ratio = diffusivity * time step / spacing^2; stable up to 1 / (2 dimensions).
template <class T>
std::vector<T> heat_coefficients(int dimensions, double ratio);

// Who controls the steps. All variants give the same bits.
enum class variant {
  copy,       // host: one kernel a step, then copies of the faces
  overlap,    // host: faces first in their own stream, copied while the interior is computed
  p2p,        // host: as overlap, faces stored into the neighbour's memory by the kernel
  graph,      // host: many steps as one recorded graph, whose kernels wait for the neighbours' signals themselves
  cpu_free,   // one persistent program: faces are put and signalled by the devices, no host in the loop
  resident,   // one persistent program whose blocks keep their cells on chip and send each other packets: no barrier;
              // where cells do not fit there: the steps of cpu_free
  temporal,   // as resident, with packets every few steps and the work between done on both sides of an edge; in two
              // dimensions, where cells do not fit on chip: several steps in one pass over memory
  automatic,  // whichever of them a model of their costs says is fastest
};

const char* name(variant v);
// Throws argument_error that lists the names.
variant variant_named(const std::string& text);

struct run_options {
  variant how = variant::automatic;
  index_t steps = 1;
  index_t check_every = 0;       // 0: never; otherwise every that many steps the largest change of a cell is found
  double tolerance = 0;          // stop when the largest change is not above it
  int blocks = 0;                // per PE; 0: chosen from the domain and the device
  int threads = 0;               // per block on GPUs; 0: chosen
  int boundary_blocks = -1;      // of `blocks`, for the boundary alone; 0: every block does both parts; -1: chosen
  index_t packet_bytes = -1;     // up to which a face of a PE is packets; -1: chosen
  int depth = 0;                 // layers that `temporal` exchanges, every that many steps; 0: chosen
  std::size_t shared_bytes = 0;  // that a block of `resident` or `temporal` may use; 0: what there is
  bool compute = true;           // false: cells keep their values, only communication happens
  double deadline = 0;           // seconds a wait may last; 0: the machine's
};

struct run_result {
  index_t steps = 0;                                         // done by this run
  double change = std::numeric_limits<double>::quiet_NaN();  // largest change of a cell, when last checked
  bool converged = false;
  double seconds = 0;  // of the steps alone
  int blocks = 0;      // used per PE
  int threads = 0;
  int depth = 1;                    // steps between two exchanges
  variant how = variant::cpu_free;  // that ran
  std::string why;                  // of `automatic`: what was expected of each variant; also why another one ran
};

// Checks everything that does not depend on a machine's memory; throws argument_error that names what is wrong.
template <class T>
geometry geometry_of(const problem<T>& p, int n_pes);

}  // namespace starling::stencil
