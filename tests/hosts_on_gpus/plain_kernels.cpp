// A kernel that is built without the entry that knows cards.
#include "programs.hpp"

namespace starling::test {

void run_without_cards(machine& m) {
  m.run(1, STARLING_KERNEL(block & b) { b.sync_pe(); });
}

}  // namespace starling::test
