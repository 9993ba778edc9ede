// The thread that makes all calls of an engine: it sends what others give it, hands what comes to whoever handles that
// kind, and does other work by turns, such as a card's. It looks all the time while something happens, and now and then
// when nothing has for a while.
//
// What goes to one process in one round goes as one message of the engine. Large data goes apart, without a copy; what
// its sender has sent after it is handled after it has come.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
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
  // While one of these lives, somebody waits for a message: the thread looks for longer before it sleeps.
  class awaited {
   public:
    explicit awaited(messenger& m) : messenger_(m) {
      m.awaited_by_.fetch_add(1);
      m.ring();
    }
    ~awaited() { messenger_.awaited_by_.fetch_sub(1); }
    awaited(const awaited&) = delete;
    awaited& operator=(const awaited&) = delete;

   private:
    messenger& messenger_;
  };

  // From the thread itself, also within a handler or work; sent at the end of the round, or by progress().
  void send(int to, const message_head& head, const void* data = nullptr, std::size_t bytes = 0);
  // Puts data behind the last message that waits to be sent there, if there is one and fits(its head) says so, which
  // may change the head; false: it does not.
  template <class F>
  bool extend(int to, const F& fits, const void* data, std::size_t bytes) {
    pack& p = packs_[static_cast<std::size_t>(to)];
    if (p.all.empty()) return false;
    message_head h = message_view(p.all, p.last).head;
    if (!fits(h)) return false;
    h.follow += bytes;
    std::memcpy(p.all.data() + p.last, &h, sizeof h);
    append_bytes(p.all, data, bytes);
    return true;
  }
  void send_data(int to, const data_range& data) { engine_->send_data(to, data); }
  // Within a handler: the sender has sent data for this place. When it is there, `then` is handled as a message, and
  // what the sender has sent since.
  void receive_data(int from, const data_range& place, const message_head& then);
  // Sends and handles what there is, but not from within a handler; whether that was anything.
  bool progress();

  // Ends the thread, and begins another one.
  void pause();
  void resume();
  // The process is about to end: sends what it was given, ends the thread, and the engine's part in the process.
  void end_process();

 private:
  // What is to be sent to one process; `last`: where its last message begins.
  struct pack {
    message_bytes all;
    std::size_t last = 0;
  };
  // What has come from one process and is not handled yet.
  struct inbox {
    std::deque<message_bytes> messages;
    std::size_t at = 0;  // of the first one
    bool awaits_data = false;
    message_head then;
  };

  void finish();
  void run();
  bool rest(int idle);
  pack& pack_for(int to);
  void add(int to, message_bytes message);
  void flush();
  void flush(int to);
  bool finish_data();
  void handle_from(int from);
  void dispatch(int from, const message_view& m);

  std::unique_ptr<engine> engine_;
  std::recursive_mutex handlers_mutex_;  // held while one runs
  std::array<handler, message_kinds> handlers_;
  std::function<bool()> work_;
  std::mutex outbox_mutex_;
  std::condition_variable wakeup_;
  std::vector<std::pair<int, message_bytes>> outbox_;
  bool rung_ = false;
  std::atomic<int> awaited_by_{0};
  // Of the thread: what is to be sent, by process, and to which there is something; what has come, and from which data
  // is awaited.
  std::vector<pack> packs_;
  std::vector<int> to_flush_;
  std::vector<inbox> inboxes_;
  std::vector<int> awaited_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace starling
