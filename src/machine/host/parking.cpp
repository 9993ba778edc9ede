#include "parking.hpp"

namespace starling::host {

void parking::wake(lot& l) {
  // The sleeper counts itself before it looks at the word for the last time, so one of the two sees the other.
  if (l.sleepers.load() == 0) return;
  const std::lock_guard lock(l.mutex);
  l.wakeup.notify_all();
}

void parking::wake(const void* word) {
  wake(lot_of(word));
  wake(several_);
}

void parking::wake_range(const void* start, std::size_t bytes) {
  if (bytes > 8 * lots_.size()) return wake_all();
  const auto* end = static_cast<const std::byte*>(start) + bytes;
  for (const auto* word = static_cast<const std::byte*>(start); word < end; word += 8) wake(lot_of(word));
  wake(lot_of(end - 1));
  wake(several_);
}

void parking::wake_all() {
  for (lot& l : lots_) wake(l);
  wake(several_);
}

}  // namespace starling::host
