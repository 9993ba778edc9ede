#include "card_thread.hpp"

namespace starling::host {

card_thread::card_thread(parking& lot) : host_card(lot), thread_([this] { run(); }) {}

card_thread::~card_thread() {
  over_.store(true);
  ring();
  thread_.join();
}

void card_thread::ring() {
  if (rung_.exchange(true)) return;
  const std::lock_guard lock(sleep_mutex_);
  wakeup_.notify_one();
}

void card_thread::run() {
  while (!over_.load()) {
    rung_.store(false);  // who rings from here on is looked at in the next round
    if (serve() || rings_soon()) continue;
    std::unique_lock lock(sleep_mutex_);
    wakeup_.wait(lock, [this] { return rung_.load() || over_.load(); });
  }
}

// Whether a doorbell rings while the card lets others run: sleep and wakeup take longer than most work.
bool card_thread::rings_soon() const {
  for (int looks = 0; looks < 64; ++looks) {
    if (rung_.load()) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace starling::host
