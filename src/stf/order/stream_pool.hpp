// The slots of a context: for every device some for tasks, one for copies to it, one for copies from it, one that waits
// for streams of the user and some for tasks of each priority; and some for work of the host, one of them for copies.
// It orders work after sync points, with as few events as what the slots already cover of each other allows.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stream_slot.hpp"

namespace starling::stf {

class stream_pool {
 public:
  // Stream slots for tasks of one device, or of the host.
  static constexpr int per_place = 4;
  // Those of each priority above 0.
  static constexpr int per_priority = 2;

  explicit stream_pool(machine m);

  // Work comes after what the user's stream has when the first of it is submitted, and is part of its recording, if
  // `recorded`.
  void begin_after(const stream& user, bool recorded);
  // The same anew, of work from here on. Nobody gives the slots work meanwhile.
  void begin_after_user_again();
  // Of graphs: each comes after what the user's stream has when its recording begins, and when it is launched.
  void launch_after(const stream& user);
  // Later work of that stream starts after all work. No slot is to be used any more.
  void end_before_user();
  // Blocks until that is over; not while it is recorded.
  void wait_for_end();

  // A slot for a task on device `pe` (host_place: the host) that waits for `before`: one whose newest work is among it
  // when there is one, so that no event is needed; else the one that has been without work for the longest, if that is
  // longer than `before` is old. It is taken until leave(). The host's slots are the same for all priorities.
  stream_slot& take(int pe, const sync_point_list& before, int priority = 0);
  // The streams of slots for tasks of devices, of priorities up to this one.
  void for_each_of_tasks(int priority, const std::function<void(stream&)>& f);
  // The slot for copies between two places.
  stream_slot& for_copy(int from, int to);

  // Later work of `later` starts after `before`; or that of all slots.
  void order(stream_slot& later, const sync_point_list& before);
  void order_all(const sync_point_list& before);
  // What all slots have so far.
  void add_all(sync_point_list& to) const;

  // Later work of the user's stream starts after `before`. Not while work is recorded: end the epoch first.
  void make_wait(stream& user, const sync_point_list& before);
  // What is over when everything that the user's stream has so far is. If work is recorded: nothing, and the graph that
  // is launched next starts after that.
  sync_point_list after(stream& user);

  // Blocks the calling thread until all of it is over.
  void wait(const sync_point_list& before);
  // Whether all of it certainly is.
  bool over(const sync_point_list& before);
  // Until everything is over; throws what failed first.
  void wait_for_all();
  // As new, for another context, when everything is over. False: it cannot be used again.
  bool reset() noexcept;

  // ---- recordings: from begin to end all slots put their work into one graph ----
  // Nobody else gives the slots work while one of these calls goes on.

  // The stream that graphs are launched into; later work of it starts after all that the slots have so far.
  stream& gather();
  void begin_recording();
  // Work of a stream of that device that is no part of the recording: it comes after everything before, and before
  // everything after, whatever is launched of the recording. The host's are given as device 0.
  stream& beside_recording(int pe);
  bool recording() const { return recording_.has_value() || user_recorded_; }
  // By the user, and not by begin_recording.
  bool user_recorded() const { return user_recorded_; }
  // Whether some of it is part of what is recorded now.
  bool in_recording(const sync_point_list& work) const;
  // Throws argument_error when that recording is over, or there is one that was not when begin_after was called; or any
  // after launch_after.
  void expect_still_recorded();
  // Ends it: the work becomes `into`, by an update if there is one of the same shape; says whether it was.
  bool end_recording(std::optional<graph>& into);
  // Ends it, and nothing of it will be.
  void abandon_recording();
  // Puts a graph in line behind everything that was recorded before; slots may have no work of their own until
  // resume().
  void launch(const graph& g);
  // From here on work of the slots starts after what gather()'s stream has so far. For the end of a recording.
  void resume();

 private:
  void join(stream_slot& slot);
  void gate();
  void all_completed();
  void wait_for_users();
  void wait_for_user_of_graphs();
  void wait_for_besides();

  machine machine_;
  std::atomic<std::uint64_t> clock_{0};
  std::vector<std::unique_ptr<stream_slot>> slots_;
  stream origin_;
  event start_;
  std::optional<starling::recording> recording_;
  event before_recording_;
  struct beside {
    stream work;
    event over;
    bool used = false;  // since the recording began
  };
  std::vector<std::optional<beside>> beside_;  // by device
  std::atomic<bool> recorded_before_{false};
  bool gated_ = false;                              // slots wait for start_ before they do anything
  bool origin_ahead_ = false;                       // the stream of graphs has work that slots do not wait for
  std::uint64_t gate_ = 1;                          // how often start_ has become another point
  std::vector<std::atomic<std::uint64_t>> joined_;  // by slot: the gate that it has waited for; 0: none
  std::mutex join_mutex_;
  std::optional<stream> user_;                // whose work all this is
  std::atomic<bool> user_waited_for_{false};  // start_ is a point of its
  bool user_recorded_ = false;
  std::optional<stream> user_of_graphs_;
  std::optional<event> end_;
  std::vector<event> users_;  // of the user's streams: what the next graph starts after
};

}  // namespace starling::stf
