#include "messenger.hpp"

#include <algorithm>
#include <chrono>

namespace starling {
namespace {

// How often it looks before it sleeps, letting others run in between, and how long it sleeps then.
constexpr int looks = 200;
constexpr std::chrono::microseconds shortest_nap{50};
constexpr std::chrono::microseconds longest_nap{200};

}  // namespace

messenger::messenger(std::unique_ptr<engine> e) : engine_(std::move(e)) {}

messenger::~messenger() {
  pause();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  (void)progress();
  while (!engine_->sent() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
}

void messenger::handle(message_kind kind, handler h) {
  const std::lock_guard lock(handlers_mutex_);
  handlers_[static_cast<std::size_t>(kind)] = std::move(h);
}

void messenger::work_too(std::function<bool()> work) {
  const std::lock_guard lock(handlers_mutex_);
  work_ = std::move(work);
}

void messenger::post(int to, message_bytes message) {
  const std::lock_guard lock(outbox_mutex_);
  outbox_.emplace_back(to, std::move(message));
  rung_ = true;
  wakeup_.notify_one();
}

void messenger::ring() {
  const std::lock_guard lock(outbox_mutex_);
  rung_ = true;
  wakeup_.notify_one();
}

bool messenger::progress() {
  std::vector<std::pair<int, message_bytes>> out;
  {
    const std::lock_guard lock(outbox_mutex_);
    out.swap(outbox_);
    rung_ = false;
  }
  for (auto& [to, message] : out) engine_->send(to, std::move(message));
  bool any = !out.empty();
  int from = 0;
  message_bytes message;
  while (engine_->receive(from, message)) {
    any = true;
    const message_view m(message);
    const std::lock_guard lock(handlers_mutex_);
    const handler& h = handlers_[static_cast<std::size_t>(m.head.kind)];
    if (h) h(from, m);
  }
  return any;
}

void messenger::run() {
  int idle = 0;
  while (!over_.load()) {
    bool any = progress();
    {
      const std::lock_guard lock(handlers_mutex_);
      any = (work_ && work_()) || any;
    }
    idle = any ? 0 : idle + 1;
    if (idle > 0) rest(idle);
  }
}

void messenger::rest(int idle) {
  if (idle <= looks) return std::this_thread::yield();
  const auto nap = std::min(longest_nap, shortest_nap * (idle - looks));
  std::unique_lock lock(outbox_mutex_);
  wakeup_.wait_for(lock, nap, [this] { return rung_ || over_.load(); });
}

void messenger::pause() {
  over_.store(true);
  ring();
  if (thread_.joinable()) thread_.join();
}

void messenger::resume() {
  over_.store(false);
  thread_ = std::thread([this] { run(); });
}

}  // namespace starling
