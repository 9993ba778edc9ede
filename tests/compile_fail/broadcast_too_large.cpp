// expect: all_reduce and broadcast carry trivially copyable values of up to 32 bytes
#include "starling/machine/machine.hpp"

struct four {
  double v[4];
};

four kernel(starling::block& b, const four& mine) { return b.broadcast(mine, 0); }
