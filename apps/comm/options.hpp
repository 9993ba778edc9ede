// What `starling bench comm` measures, and of what: the names, the sizes, how often.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling::comm {

// How bytes get from one device to another.
enum class way {
  packets,      // channel, all of it packets
  stores,       // channel, stores of 16 bytes and a signal
  bulk,         // channel, the copy engine of a multiprocessor and a signal
  channel,      // channel, by size
  get,          // loads from the other device
  scattered,    // stores of 4 bytes all over the place
  copy_engine,  // copies that the host starts
  staged,       // the same through pinned memory of the host
};
inline constexpr way all_ways[] = {way::packets, way::stores,    way::bulk,        way::channel,
                                   way::get,     way::scattered, way::copy_engine, way::staged};

const char* name(way w);
// Whether the host copies, rather than kernels.
constexpr bool by_host(way w) { return w == way::copy_engine || w == way::staged; }
// Throws argument_error with the names there are.
way way_named(const std::string& name);

// What the time of a result is of.
enum class measure {
  latency,  // a message, one way: half of what it takes to and fro, or until the copy is known to be complete
  stream,   // a message among many that follow one another
  call,     // a call that several blocks make together
};
const char* name(measure m);

struct bench_options {
  std::vector<index_t> bytes;              // multiples of 8; none: powers of two that suit the machine
  std::vector<way> ways;                   // none: all, of several processes those of kernels
  std::vector<std::pair<int, int>> pairs;  // from, to; none: every two, and each with itself
  int repetitions = 5;
  double seconds = 0.01;  // of one repetition, about
  int blocks = 0;         // of a stream on each side; 0: 16 on GPUs, 1 on virtual devices
  bool meetings = true;   // barriers and reductions too
};

struct measurement {
  std::string what;  // a way, or a call
  measure of = measure::latency;
  int from = -1;  // PEs; -1: all of them
  int to = -1;
  index_t bytes = 0;  // of a message
  int blocks = 1;
  int threads = 0;
  index_t iterations = 0;  // of a repetition
  std::vector<double> us;  // of a message or call, by repetition
};

// The options with what was left open filled in. Throws argument_error or range_error for what makes no sense, and
// unsupported_error for copies by the host between processes.
bench_options completed(const bench_options& o, const machine& m);

}  // namespace starling::comm
