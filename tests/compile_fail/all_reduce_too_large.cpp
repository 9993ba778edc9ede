// expect: all_reduce and broadcast carry trivially copyable values of up to 32 bytes
#include "starling/machine/machine.hpp"

struct five {
  double v[5];
};

five kernel(starling::block& b, const five& mine) {
  return b.all_reduce(mine, [](const five& x, const five&) { return x; });
}
