// The measurements of puts that kernels make, and those that the host makes; all in nanoseconds.
#pragma once

#include "gio/measure.hpp"

namespace starling::gio {

inline constexpr int warm_rounds = 10;  // before what is timed

// One way of the round trips of a put and its signal, which PE 0 times.
double ping_pong(machine& m, index_t bytes, int rounds);
// Puts, each with a quiet, by blocks of PE 0 that have a queue each: all of them by the slowest block.
double puts_and_quiets(machine& m, index_t bytes, int blocks, int rounds);
// Puts of 8 bytes, one behind the other, and a quiet: a whole program.
double program_of_puts(machine& m, int blocks, int puts);
// Copies of the host with their signals, and a wait for each, behind an empty kernel or without.
double host_puts(machine& m, index_t bytes, int rounds, bool empty_kernel);

}  // namespace starling::gio
