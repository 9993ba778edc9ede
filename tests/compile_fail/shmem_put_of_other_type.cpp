// expect: cannot convert
#include "starling/machine/machine.hpp"
#include "starling/shmem.hpp"

void kernel(starling::block& b, starling::sym<double> x, const float* source) {
  starling::shmem::put(b, x, source, 4, 0);
}
