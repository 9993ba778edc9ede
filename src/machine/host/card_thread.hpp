// A card with a thread of its own, which sleeps while no doorbell rings.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "host_card.hpp"

namespace starling::host {

class card_thread final : public host_card {
 public:
  explicit card_thread(parking& lot);
  ~card_thread() override;

  void ring() override;

 private:
  void run();
  bool rings_soon() const;

  std::atomic<bool> rung_{false};
  std::mutex sleep_mutex_;
  std::condition_variable wakeup_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace starling::host
