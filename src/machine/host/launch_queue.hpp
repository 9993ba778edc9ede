// Kernels that blocks of a program have launched on one PE, until a block that runs such kernels takes them.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>

#include "parking.hpp"
#include "starling/device/host_port.hpp"

namespace starling::host {

class launch_queue {
 public:
  // `launchers`: blocks that launch. `most`: launches that it holds.
  launch_queue(parking& lot, int launchers, int most)
      : lot_(lot), most_(static_cast<std::size_t>(most)), launchers_(launchers) {}
  launch_queue(const launch_queue&) = delete;
  launch_queue& operator=(const launch_queue&) = delete;

  // False: it is full.
  bool add(const kernel_launch& k);
  // One of those that launch has returned.
  void launcher_over();

  // The oldest launch. Sleeps until there is one; empty: all that launch have returned, or ended() is true.
  template <class Ended>
  std::optional<kernel_launch> take(const Ended& ended) {
    for (;;) {
      const auto something = [&] { return ended() || any_.load() != 0 || launchers_.load() == 0; };
      (void)lot_.wait(&any_, clock::now() + std::chrono::hours(24), something);
      if (ended()) return std::nullopt;
      // Whoever launched before it returned has added it before.
      const bool no_more = launchers_.load() == 0;
      if (std::optional<kernel_launch> k = try_take()) return k;
      if (no_more) return std::nullopt;
    }
  }

 private:
  std::optional<kernel_launch> try_take();

  parking& lot_;
  std::size_t most_;
  std::mutex mutex_;
  std::deque<kernel_launch> launches_;
  std::atomic<std::uint64_t> any_{0};  // how many those are; what waiters are woken by
  std::atomic<int> launchers_;
};

}  // namespace starling::host
