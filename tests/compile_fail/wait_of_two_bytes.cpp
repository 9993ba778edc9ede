// expect: waitable_word
#include "starling/starling.hpp"

void kernel(starling::block& b, starling::sym<short> x) { b.wait_until(x, starling::compare::eq, 1); }
