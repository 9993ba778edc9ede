// expect: get moves trivially copyable types
#include <string>

#include "starling/machine/machine.hpp"

void kernel(starling::block& b, starling::sym<std::string> x, std::string* to) { b.get(to, x, 1, 0); }
