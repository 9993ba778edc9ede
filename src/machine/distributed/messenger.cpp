#include "messenger.hpp"

#include <algorithm>
#include <chrono>

namespace starling {
namespace {

// How often it looks before it sleeps, letting others run in between, and how long it sleeps then.
constexpr int looks = 200;
constexpr int looks_for_awaited = 5000;
constexpr std::chrono::microseconds shortest_nap{50};
constexpr std::chrono::microseconds longest_nap{200};

// Messages that are so long together do not wait for more.
constexpr std::size_t enough_bytes = std::size_t{16} << 10;

}  // namespace

messenger::messenger(std::unique_ptr<engine> e)
    : engine_(std::move(e)),
      packs_(static_cast<std::size_t>(engine_->size())),
      inboxes_(static_cast<std::size_t>(engine_->size())) {}

messenger::~messenger() { finish(); }

void messenger::finish() {
  pause();
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  (void)progress();
  while (!engine_->sent() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
}

void messenger::end_process() {
  finish();
  engine_->end_process();
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
  for (auto& [to, message] : out) add(to, std::move(message));
  flush();
  bool any = finish_data() || !out.empty();
  int from = 0;
  message_bytes message;
  while (engine_->receive(from, message)) {
    any = true;
    inboxes_[static_cast<std::size_t>(from)].messages.push_back(std::move(message));
    handle_from(from);
  }
  flush();
  return any;
}

void messenger::handle_from(int from) {
  inbox& in = inboxes_[static_cast<std::size_t>(from)];
  while (!in.awaits_data && !in.messages.empty()) {
    const message_bytes& all = in.messages.front();
    const message_view m(all, in.at);
    in.at += sizeof m.head + m.bytes;
    dispatch(from, m);
    if (in.at < all.size()) continue;
    in.messages.pop_front();
    in.at = 0;
  }
}

void messenger::dispatch(int from, const message_view& m) {
  const std::lock_guard lock(handlers_mutex_);
  const handler& h = handlers_[static_cast<std::size_t>(m.head.kind)];
  if (h) h(from, m);
}

void messenger::receive_data(int from, const data_range& place, const message_head& then) {
  inbox& in = inboxes_[static_cast<std::size_t>(from)];
  in.awaits_data = true;
  in.then = then;
  awaited_.push_back(from);
  engine_->receive_data(from, place);
}

bool messenger::finish_data() {
  std::vector<int> came;
  std::erase_if(awaited_, [&](int from) {
    if (!engine_->data_received(from)) return false;
    came.push_back(from);
    return true;
  });
  for (const int from : came) {
    inbox& in = inboxes_[static_cast<std::size_t>(from)];
    in.awaits_data = false;
    dispatch(from, message_view(in.then));
    handle_from(from);
  }
  return !came.empty();
}

messenger::pack& messenger::pack_for(int to) {
  pack& p = packs_[static_cast<std::size_t>(to)];
  if (p.all.empty()) to_flush_.push_back(to);
  p.last = p.all.size();
  return p;
}

void messenger::send(int to, const message_head& head, const void* data, std::size_t bytes) {
  pack& p = pack_for(to);
  append(p.all, head, data, bytes);
  if (p.all.size() >= enough_bytes) flush(to);
}

void messenger::add(int to, message_bytes message) {
  pack& p = pack_for(to);
  if (p.all.empty())
    p.all = std::move(message);
  else
    append_bytes(p.all, message.data(), message.size());
  if (p.all.size() >= enough_bytes) flush(to);
}

void messenger::flush(int to) {
  message_bytes& all = packs_[static_cast<std::size_t>(to)].all;
  if (!all.empty()) engine_->send(to, std::exchange(all, {}));
}

void messenger::flush() {
  for (const int to : to_flush_) flush(to);
  to_flush_.clear();
}

void messenger::run() {
  int idle = 0;
  while (!over_.load()) {
    bool any = progress();
    {
      const std::lock_guard lock(handlers_mutex_);
      any = (work_ && work_()) || any;
    }
    flush();
    idle = any ? 0 : idle + 1;
    if (idle > 0 && rest(idle)) idle = 0;
  }
}

// Whether somebody has rung meanwhile.
bool messenger::rest(int idle) {
  if (idle <= looks || (idle <= looks_for_awaited && awaited_by_.load() > 0)) {
    std::this_thread::yield();
    return false;
  }
  const auto nap = std::min(longest_nap, shortest_nap * (idle - looks));
  std::unique_lock lock(outbox_mutex_);
  return wakeup_.wait_for(lock, nap, [this] { return rung_ || over_.load(); });
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
