// expect: no matching
#include "starling/machine/machine.hpp"

void run(starling::machine& m) {
  m.run(1, [](int) {});
}
