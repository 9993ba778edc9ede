// expect: symmetric memory holds trivially copyable types
#include <string>

#include "starling/machine/machine.hpp"

void allocate(starling::machine& m) { (void)m.allocate<std::string>(4); }
