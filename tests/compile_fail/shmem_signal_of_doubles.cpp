// expect: constraints not satisfied
#include "starling/machine/machine.hpp"
#include "starling/shmem.hpp"

void kernel(starling::block& b, starling::sym<double> x) { starling::shmem::signal_set(b, x, 1, 0); }
