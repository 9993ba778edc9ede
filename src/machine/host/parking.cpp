#include "parking.hpp"

namespace starling::host {

void parking::wake(lot& l) {
  // The sleeper counts itself before it looks at the word for the last time, so one of the two sees the other.
  if (l.sleepers.load() == 0) return;
  const std::lock_guard lock(l.mutex);
  l.wakeup.notify_all();
}

void parking::wake(const void* word) { wake(lot_of(word)); }

void parking::wake_all() {
  for (lot& l : lots_) wake(l);
}

}  // namespace starling::host
