// What tells whether two processes run the same build.
#pragma once

#include <string>

namespace starling {

// The number that the linker gave to the program, or the library, that Starling is linked into; empty: it gave none.
std::string build_identity();

}  // namespace starling
