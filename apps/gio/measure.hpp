// What a put to a PE of another host takes, by who asks for it and who carries it out. The PEs are those of one process
// and cards are models: the wire takes no time, or what the machine's copies take, so that what is measured is the way
// from whoever asks to the card and back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling::gio {

enum class way {
  gio,            // a block posts to its queue pair; the card is a kernel, or a thread of virtual devices
  ikn,            // a block posts, and a thread of the host is the card; GPUs alone
  inter_k,        // the host puts, and waits for it; no kernel
  inter_k_empty,  // the same behind an empty kernel
};
inline constexpr way all_ways[] = {way::gio, way::ikn, way::inter_k, way::inter_k_empty};
const char* name(way w);
// Throws argument_error with the names there are.
way way_named(const std::string& name);
// Whether blocks ask a card, rather than the host a copy.
constexpr bool by_card(way w) { return w == way::gio || w == way::ikn; }

struct measure_options {
  std::vector<index_t> bytes;  // none: 4 to 4096
  std::vector<int> blocks;     // that post at the same time; none: 1, 2, 4, ... 64
  int repetitions = 5;         // after one to warm up
  int iterations = 0;          // of a repetition; 0: as many as suit way and machine
};

enum class quantity {
  latency,  // from the call to payload and signal seen at the target: half a round trip
  quiet,    // a put, from the call to the return of quiet, by so many blocks at a time
  rate,     // a put of 8 bytes, of many that so many blocks post one behind the other
};
const char* name(quantity q);

struct measurement {
  quantity what = quantity::latency;
  way by = way::gio;
  index_t bytes = 0;
  int blocks = 1;
  int iterations = 0;
  std::vector<double> us;  // of one put, by repetition
};

// By one way, between PEs 0 and 1; a machine of two hosts by way of a card, else of one. Each result is also told as it
// comes. Throws argument_error for a machine or options that do not suit, unsupported_error where the machine has no
// such way.
std::vector<measurement> measure(machine& m, way by, const measure_options& o,
                                 const std::function<void(const measurement&)>& told = {});

// Of a block's thread that posts to an idle queue, in cycles of its multiprocessor: the least of many.
struct post_cycles {
  std::uint64_t to_entry;     // until the entry is written
  std::uint64_t to_doorbell;  // until the doorbell is
};
// With the template that is in the ring, or with the entry built whole. Of GPUs whose card is a kernel; throws
// unsupported_error otherwise.
post_cycles cycles_of_posts(machine& m, bool whole, int posts);

}  // namespace starling::gio
