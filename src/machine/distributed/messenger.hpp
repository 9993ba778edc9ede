// The thread that makes all calls of an engine: it sends what others give it, hands what comes to whoever handles that
// kind, and does other work by turns, such as a card's. It looks all the time while something happens, and now and then
// when nothing has for a while.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "messages.hpp"

namespace starling {

class messenger {
 public:
  using handler = std::function<void(int from, const message_view& m)>;

  // Begins nothing before resume(): what comes is meant for handlers that are there.
  explicit messenger(std::unique_ptr<engine> e);
  // Sends what it was given before.
  ~messenger();
  messenger(const messenger&) = delete;
  messenger& operator=(const messenger&) = delete;

  const engine& carrier() const { return *engine_; }

  // From any thread. A message of a kind that nobody handles is dropped; no handler runs any more after it has been
  // replaced by an empty one.
  void handle(message_kind kind, handler h);
  // `work` says whether there was any; empty: none any more.
  void work_too(std::function<bool()> work);
  void post(int to, message_bytes message);
  // There is work.
  void ring();

  // From the thread itself, also within a handler or work.
  void send(int to, message_bytes message) { engine_->send(to, std::move(message)); }
  // Sends and handles what there is; whether that was anything.
  bool progress();

  // Ends the thread, and begins another one.
  void pause();
  void resume();

 private:
  void run();
  void rest(int idle);

  std::unique_ptr<engine> engine_;
  std::recursive_mutex handlers_mutex_;  // held while one runs
  std::array<handler, message_kinds> handlers_;
  std::function<bool()> work_;
  std::mutex outbox_mutex_;
  std::condition_variable wakeup_;
  std::vector<std::pair<int, message_bytes>> outbox_;
  bool rung_ = false;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace starling
