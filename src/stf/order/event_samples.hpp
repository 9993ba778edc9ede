// event_samples<Tag>: how long pieces of work in streams took, by events before and behind them. Nothing waits: whoever
// has time collects what is over. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling::stf {

template <class Tag>
class event_samples {
 public:
  // Samples under way; beyond these nothing is measured.
  static constexpr std::size_t most = 64;

  explicit event_samples(machine m) : machine_(std::move(m)) {}

  // What the stream has from here on is measured, until end. Nothing when there are enough.
  std::optional<event> begin(stream& s) {
    event e = take(s.pe());
    {
      const std::lock_guard lock(mutex_);
      if (under_way_.size() >= most) {
        free_[s.pe()].push_back(std::move(e));
        return std::nullopt;
      }
    }
    s.record(e);
    return e;
  }
  void end(stream& s, event begun, Tag what) {
    event e = take(s.pe());
    s.record(e);
    const std::lock_guard lock(mutex_);
    under_way_.push_back({std::move(begun), std::move(e), s.pe(), std::move(what)});
  }

  // each(tag, seconds) for the oldest samples that are over, a few at a time.
  template <class F>
  void collect(const F& each) {
    constexpr int enough = 4;
    for (int i = 0; i < enough; ++i) {
      std::optional<sample> oldest;
      {
        const std::lock_guard lock(mutex_);
        if (under_way_.empty() || !under_way_.front().ended.done()) return;
        oldest = std::move(under_way_.front());
        under_way_.pop_front();
      }
      const double seconds = event::seconds_between(oldest->begun, oldest->ended);
      each(oldest->what, seconds);
      const std::lock_guard lock(mutex_);
      free_[oldest->pe].push_back(std::move(oldest->begun));
      free_[oldest->pe].push_back(std::move(oldest->ended));
    }
  }

 private:
  struct sample {
    event begun;
    event ended;
    int pe;
    Tag what;
  };

  event take(int pe) {
    {
      const std::lock_guard lock(mutex_);
      std::vector<event>& here = free_[pe];
      if (!here.empty()) {
        event e = std::move(here.back());
        here.pop_back();
        return e;
      }
    }
    return machine_.new_event(pe);
  }

  machine machine_;
  std::mutex mutex_;
  std::deque<sample> under_way_;
  std::map<int, std::vector<event>> free_;  // by PE
};

}  // namespace starling::stf
