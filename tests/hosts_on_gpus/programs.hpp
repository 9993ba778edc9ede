// Programs whose blocks talk to PEs of other hosts by cards alone, and loops on the host that say what they must give.
// Everything is whole numbers, so that bits are the same on any device.
#pragma once

#include <string>
#include <vector>

#include "starling/machine/machine.hpp"
#include "support/random.hpp"

namespace starling::test {

// What PE `pe` sends in a round, and to whom: bytes at odd places, of odd lengths, some of which take several messages.
constexpr index_t longest_put = 300'100;
STARLING_HD constexpr index_t length_of_put(int pe, int round) {
  constexpr index_t lengths[] = {1, 7, 8, 12, 13, 64, 4096, 4097, 16'385, 65'537, 131'073, 300'001};
  return lengths[(pe * 5 + round * 7) % 12];
}
STARLING_HD constexpr index_t place_of_put(int pe, int round) { return (pe * 3 + round * 5) % 17; }
STARLING_HD constexpr unsigned char byte_of_put(int pe, int round, index_t i) {
  return static_cast<unsigned char>(1 + (pe * 7 + round * 3 + i * 31 + (i >> 8)) % 250);
}
STARLING_HD constexpr int target_of_put(int pe, int round, int pes) { return (pe + 1 + round % (pes - 1)) % pes; }

// A word of each PE, mixed in each step with the sum over all PEs and what came from the PE before: `words` words in
// one put, each of which is looked at. Collective; those of this process's PEs.
std::vector<std::uint64_t> ring_words(machine& m, int steps, int words);
std::vector<std::uint64_t> expected_ring(int pes, int steps);

// Puts with signals and gets of the same, `rounds` times: where the first byte is that is wrong at a PE of this
// process, or "all right".
std::string random_puts(machine& m, int rounds);

// Every PE takes `rounds` numbers of a counter on each PE, and adds up on PE 0 by comparing and swapping. "all right",
// or what is wrong.
std::string counted_numbers(machine& m, int rounds);

// Every PE waits for a signal that nobody raises.
void wait_for_nobody(machine& m);
// The same kernel, built without cards.
void run_without_cards(machine& m);

}  // namespace starling::test
