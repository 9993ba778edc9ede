// Programs whose blocks talk to PEs of other processes, and what they compute.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling::test {

// Of each PE: a sum over all PEs, and what has come round the ring after `steps` steps.
std::vector<double> ring_values(machine& m, int steps);
// The same, as hexadecimal bits, to be compared between processes.
std::string ring_bits(machine& m, int steps);

// Every PE waits for a signal that the next one never raises.
void wait_in_ring(machine& m);
// PE `waiting` waits for `sleeper`, which computes for a while.
void wait_for_sleeper(machine& m, double seconds);
// The kernel throws on one PE, the others wait for it.
void throw_on(machine& m, int pe);
// A wait for data that is written without a signal.
void wait_for_data(machine& m);

// Puts of random lengths to all PEs, gets of what others were sent, additions and swaps at PE 0, `rounds` times; what
// is not as it should be, or "all right".
std::string mixed_calls(machine& m, int rounds);

// Large puts to the next PE, of odd lengths at odd places, each followed by a signal, an overlapping put, the reuse of
// its source or an atomic operation, and gets of the same; how many bytes of this process's PEs are not as they should
// be, at all of them: "all right" if none are.
std::string large_calls(machine& m, int rounds);
// Puts of few bytes to the next PE, each of whose source is written over as soon as the call has returned; how many
// bytes are wrong, or "all right".
std::string reused_sources(machine& m, int rounds);
// Packets side by side to the next PE, taken one by one, from the last one or the first; how many are wrong, or "all
// right".
std::string many_packets(machine& m, int rounds);
// Each PE puts so many bytes to each other one, and gets so many from it, in two blocks that do the same.
constexpr index_t known_put(int from, int to) { return from == to ? 0 : 1 + (3 * from + 7 * to) % 11 * 997; }
constexpr index_t known_get(int by, int from) { return by == from ? 0 : 1 + (5 * by + from) % 3 * 20'011; }
// With each put a signal, and an atomic addition to 8 bytes. What arrives is not looked at.
void move_known(machine& m);
// PE 0 signals PE 1 and throws.
void signal_and_throw(machine& m);
// PE 0 puts large data to PE 1 without an end, the others wait for a signal that nobody raises.
void put_without_end(machine& m);

}  // namespace starling::test
