// expect: use of deleted function
#include "starling/machine/machine.hpp"
#include "starling/shmem.hpp"

void kernel(starling::block& b) {
  const starling::shmem::context one(b);
  const auto two = one;
}
