// What the launch tells every block of a PE: who and where it is, how to reach the others, when to give up.
// Plain data, passed by value to GPU kernels.
#pragma once

#include <cstdint>

#include "starling/device/host_port.hpp"
#include "starling/device/packet.hpp"
#include "starling/device/symmetric.hpp"
#include "starling/device/trace_record.hpp"

namespace starling {

namespace network {
struct card_view;
}

// A role is the number that role_plan::add gave it; kernels compare block::role() with it.
using role = int;
inline constexpr int max_roles = 16;

// Blocks are numbered role after role: role r has blocks [first[r], first[r + 1]) of every PE.
struct role_table {
  int count = 1;
  int first[max_roles + 1] = {0, 1};

  STARLING_HD int role_of(int block) const {
    int r = 0;
    while (r + 1 < count && block >= first[r + 1]) ++r;
    return r;
  }
};

// A value that all-reduce and broadcast carry.
inline constexpr int small_value_bytes = 32;
struct alignas(small_value_bytes) small_value {
  std::uint64_t word[small_value_bytes / 8];
};
inline constexpr int small_value_packets = small_value_bytes / 8;

// The words by which the blocks of one program meet. Symmetric memory, zero when the program starts. Plain launches of
// a stream have only the abort word: their blocks need not be resident together, so they cannot meet. Resident ones
// have `arrived` too.
struct control_words {
  sym<signal> abort;              // non-zero: every wait ends its block
  sym<signal> arrived;            // how often blocks of this PE came to a barrier, summed
  sym<signal> released;           // how many machine-wide barriers are over
  sym<small_value> block_values;  // [n_blocks] contributions of the blocks of this PE
  sym<packet> pe_packets;      // [2][n_pes][small_value_packets] contributions on their way, by parity of the barrier
  sym<small_value> pe_values;  // [n_pes] contributions of the PEs, unpacked (virtual devices)
  sym<small_value> result;     // of the last all-reduce
};

struct program_state {
  int pe = 0;
  int n_pes = 1;
  int n_blocks = 1;  // on each PE
  role_table roles;
  control_words control;
  sym<std::byte> heap;           // start of symmetric memory
  std::uint64_t heap_bytes = 0;  // of each PE
  std::uint64_t deadline_ns = 0;
  std::uint32_t scratch_bytes = 0;
  int threads_beside = 0;           // of a block, in a warp beside its own: kernel::threads_beside
  block_report* reports = nullptr;  // of this PE, in memory that the host can always read; block b has slot b % slots
  std::uint32_t report_slots = 1;   // as many as blocks in a persistent program
  trace_rings trace;                // of this PE
  // How its blocks reach PEs of other hosts, on a GPU; null: there are none, or the launch cannot.
  const network::card_view* network = nullptr;
};

}  // namespace starling
