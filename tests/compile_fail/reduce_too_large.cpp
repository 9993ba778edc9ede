// expect: reduce carries up to 32 bytes
#include "starling/machine/machine.hpp"

struct five {
  double v[5];
};

five kernel(const starling::block& b, const five& mine) {
  return b.reduce(mine, [](const five& x, const five&) { return x; });
}
