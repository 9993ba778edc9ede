// The measurements that kernels make: messages between two PEs, and calls that all blocks make together. Each returns
// microseconds by repetition, taken inside of the program: launches do not count.
#pragma once

#include "comm/options.hpp"

namespace starling::comm {

struct exchange_plan {
  way how = way::stores;
  bool answered = true;  // the receiver answers each message: latency; otherwise messages follow one another
  int from = 0;
  int to = 0;
  index_t bytes = 8;  // of a message, of all blocks together
  int blocks = 1;     // that send, each its share
  int threads = 256;
  index_t iterations = 1;
  int repetitions = 1;
};

// Of one message, by the ways that kernels have.
std::vector<double> exchange(machine& m, const exchange_plan& p);

enum class meeting { sync_pe, sync_all, all_reduce };

// Of one call.
std::vector<double> meet(machine& m, meeting what, int blocks, int threads, index_t iterations, int repetitions);

// Of a whole program that does nothing, and of one message that the host copies, staged or not. Taken by the host.
std::vector<double> empty_program(machine& m, index_t iterations, int repetitions);
std::vector<double> host_copies(machine& m, const exchange_plan& p);

}  // namespace starling::comm
