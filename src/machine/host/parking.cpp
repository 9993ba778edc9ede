#include "parking.hpp"

#include "../distributed/futex.hpp"

namespace starling::host {

void parking::nap(lot& l, std::uint32_t seen, clock::duration at_most) { futex::wait(l.bell, seen, at_most); }

void parking::wake(lot& l) {
  // The sleeper counts itself before it looks at the word for the last time, so one of the two sees the other; and it
  // reads the bell before it looks, so a bell that rings between the look and the nap ends the nap at once.
  if (l.sleepers.load() == 0) return;
  l.bell.fetch_add(1);
  futex::wake_all(l.bell);
}

void parking::wake(const void* word) {
  wake(lot_of(word));
  wake(words_.several);
}

void parking::wake_range(const void* start, std::size_t bytes) {
  if (bytes > 8 * words_.lots.size()) return wake_all();
  const auto* end = static_cast<const std::byte*>(start) + bytes;
  for (const auto* word = static_cast<const std::byte*>(start); word < end; word += 8) wake(lot_of(word));
  wake(lot_of(end - 1));
  wake(words_.several);
}

void parking::wake_all() {
  for (lot& l : words_.lots) wake(l);
  wake(words_.several);
}

}  // namespace starling::host
