// pending_write_backs: data whose last handle has gone before its value was in the user's memory, until the next work
// is submitted or the context ends; and what is said of data that went without its value. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "data_state.hpp"

namespace starling::stf {

class coherence;

class pending_write_backs {
 public:
  explicit pending_write_backs(coherence& c) : coherence_(c) {}

  void add(data_body body);
  bool any() const { return any_; }
  // Those that `may_go`, now. Whether there was any. Who finds none can rely on it: others are not at it any more.
  // Called by itself, to make room, there is none. Those that fail stay; what the first one threw is thrown when all
  // others are done.
  bool write_back(const std::function<bool(const data_body&)>& may_go);
  // Their values are lost.
  void drop(const std::function<bool(data_body&)>& which);

  // Of data that goes while the user is owed a value that a task has failed to write.
  void note_lost(const data_body& body);
  // Throws task_error if there was any.
  void expect_none_lost() const;

 private:
  std::vector<data_body> take(const std::function<bool(data_body&)>& which);

  coherence& coherence_;
  std::recursive_mutex turn_;
  bool writing_ = false;  // in turn
  mutable std::mutex mutex_;
  std::vector<data_body> bodies_;
  std::atomic<bool> any_{false};
  std::string lost_;
};

}  // namespace starling::stf
