// The domain of a solver on the PEs of a machine: its cells and faces in symmetric memory, the streams that work on
// them, and the time level that they hold. Each way to advance it is an engine, which keeps beside this what it alone
// needs.
#pragma once

#include <vector>

#include "starling/machine/machine.hpp"
#include "stencil/core/fields.hpp"
#include "stencil/problem.hpp"
#include "stencil/step/stencil_kernels.hpp"

namespace starling::stencil {

template <class T>
class domain {
 public:
  // Throws argument_error for a problem that is none, memory_error when it does not fit.
  domain(starling::machine m, const problem<T>& p);

  // The whole array in C order, in memory of the host or of a GPU of the machine.
  void load(const T* u);
  void store(T* u);

  void synchronize();
  // Waits for what streams still do after an error; they may hold more failures of the same cause.
  void settle();

  // Faces of the current time level go to the neighbours' receive buffers.
  void publish();
  // Both slots get the current cells, for runs that do not compute.
  void equal_slots();
  // Empties the counter of the tile queue: nothing has been drawn after this time level.
  void reset_tile_counter();

  starling::machine machine;
  std::vector<int> own_pes;  // of this process
  fields<T> memory;
  symmetric_array<program_status> status;  // that a persistent program leaves
  std::vector<stream> main;                // by own PE
  std::vector<stream> side;                // faces of the overlapping variants
  index_t time_level = 0;                  // of the cells
  index_t messages = 0;                    // the last number that packets may carry
  index_t reached = 0;                     // no signal and no slot carries a later one

 private:
  void copy_cells(T* u, bool in);

  symmetric_array<T> u_[2];
  symmetric_array<T> receive_buffer_;
  symmetric_array<packet> packet_buffer_;
  symmetric_array<T> send_buffer_;
  symmetric_array<signal> arrived_;
  symmetric_array<box> boxes_;
  symmetric_array<std::uint32_t> tile_counter_;
};

// At least so many elements on each PE, all zero when new. What is there is not read any more.
template <class Element, class T>
void make_zeroed(domain<T>& d, symmetric_array<Element>& array, index_t elements) {
  if (array.size() >= elements) return;
  array.reset();
  array = d.machine.template allocate<Element>(elements);
  for (const int pe : d.own_pes) d.machine.fill(array.on(pe), 0, static_cast<std::size_t>(elements) * sizeof(Element));
}

}  // namespace starling::stencil
