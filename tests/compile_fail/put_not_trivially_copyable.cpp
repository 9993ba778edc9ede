// expect: put moves trivially copyable types
#include <string>

#include "starling/machine/machine.hpp"

void kernel(starling::block& b, starling::sym<std::string> x) {
  const std::string text = "bytes of a string are not its text";
  b.put(x, &text, 1, 0);
}
