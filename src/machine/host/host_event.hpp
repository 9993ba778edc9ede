// Events of virtual devices. Each record of an event makes a new event_record; a wait is for the one that was newest
// when it was asked.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "../backend.hpp"
#include "parking.hpp"

namespace starling::host {

class recording;

class deferred_work;

// Completes once: in check mode by a schedule first, and in fact when the schedules are over.
class event_record {
 public:
  explicit event_record(std::shared_ptr<deferred_work> deferred = nullptr) : deferred_(std::move(deferred)) {}

  void complete();
  void complete_now();
  void wait() const;
  bool completed() const;
  // The host polls whether it is complete. Work that is kept is done when it has polled often.
  void poll() const;
  clock::time_point when() const;

 private:
  std::shared_ptr<deferred_work> deferred_;  // in check mode
  mutable std::atomic<int> polls_{0};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool completed_ = false;
  clock::time_point when_;
};

class host_event final : public event_backend, public std::enable_shared_from_this<host_event> {
 public:
  bool done() const override;
  void synchronize() const override;
  double seconds_since(const event_backend& earlier) const override;

  // The newest, or null before the first record. In a recording they are numbered instead.
  std::shared_ptr<event_record> newest() const;
  void set_newest(std::shared_ptr<event_record> p);

  std::shared_ptr<recording> recorded_in;  // the recording that recorded it last, while that goes on
  std::size_t recorded_slot = 0;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<event_record> newest_;
};

}  // namespace starling::host
