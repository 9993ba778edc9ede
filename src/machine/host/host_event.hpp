// Events of virtual devices. Each record makes a new point; a wait is for the point that was newest when it was asked.
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

// Reached once. In check mode by a schedule first, and in fact when the schedules are over.
class point {
 public:
  explicit point(std::shared_ptr<deferred_work> deferred = nullptr) : deferred_(std::move(deferred)) {}

  void reach();
  void reach_now();
  void wait() const;
  bool reached() const;
  // The host looks whether it is reached. Work that is kept is done when it has looked often.
  void look() const;
  clock::time_point when() const;

 private:
  std::shared_ptr<deferred_work> deferred_;  // in check mode
  mutable std::atomic<int> looks_{0};
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool reached_ = false;
  clock::time_point when_;
};

class host_event final : public event_backend, public std::enable_shared_from_this<host_event> {
 public:
  bool done() const override;
  void synchronize() const override;
  double seconds_since(const event_backend& earlier) const override;

  // The newest point, or null before the first record. In a recording, points are numbered instead.
  std::shared_ptr<point> newest() const;
  void set_newest(std::shared_ptr<point> p);

  std::shared_ptr<recording> recorded_in;  // the recording that recorded it last, while that goes on
  std::size_t recorded_slot = 0;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<point> newest_;
};

}  // namespace starling::host
