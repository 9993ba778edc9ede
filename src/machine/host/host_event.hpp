// Events of virtual devices. Each record makes a new point; a wait is for the point that was newest when it was asked.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

#include "../backend.hpp"
#include "parking.hpp"

namespace starling::host {

class recording;

// Reached once.
class point {
 public:
  void reach();
  void wait() const;
  bool reached() const;
  clock::time_point when() const;

 private:
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
