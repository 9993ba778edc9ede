// expect: atomics work on 4 and 8 byte types
#include "starling/machine/machine.hpp"

void kernel(starling::block& b, starling::sym<std::int16_t> x) { b.atomic_fetch_add(x, 1, 0); }
