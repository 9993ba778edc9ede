// What the kernel computes, for the program and its test.
#pragma once

#include <vector>

#include "starling/starling.hpp"

// Adds up a number of each PE, which is the PE's own index plus 1. Returns the sum that each PE has come to.
std::vector<int> sum_over_ring(starling::machine& m);
