// expect: put moves trivially copyable types
#include <string>

#include "starling/machine/machine.hpp"

void kernel(starling::block& b, starling::sym<std::string> x, starling::sym<starling::signal> s) {
  const std::string text = "bytes of a string are not its text";
  b.put_signal(x, &text, 1, s, 1, 0);
}
