// stream_slot: one stream of a context, whose work is counted. Thread-safe: several threads may give it work at a time,
// which then is in some order; sync points stay right, since a sync point covers at least what was there before it was
// made.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "starling/machine/machine.hpp"
#include "sync_point.hpp"

namespace starling::stf {

class stream_slot {
 public:
  // How many recorded points a slot remembers. Who asks for an older one gets a later one.
  static constexpr std::size_t remembered = 8;

  // `clock` counts the work of all slots together. A slot with a priority makes its stream when it is used.
  stream_slot(machine& m, int pe, std::uint32_t id, std::size_t slots, std::atomic<std::uint64_t>& clock, int priority);

  std::uint32_t id() const { return id_; }
  int pe() const { return pe_; }
  starling::stream& stream() {
    if (!has_stream_.load(std::memory_order_acquire)) make_stream();
    handed_out_.fetch_add(1, std::memory_order_relaxed);
    return *stream_;
  }
  bool used() const { return has_stream_.load(std::memory_order_acquire); }

  // Everything given so far, as a new sync point. The stream gets an event for it when somebody has to wait, not
  // before.
  sync_point record();
  // Its number: of two slots, the one with the smaller number was given work longer ago.
  std::uint64_t newest() const { return newest_; }

  // Makes `later` wait for sync point `number` of this slot, or a later one if none is recorded nearer. `over` becomes
  // what is over by then, a number for every slot.
  void make_wait(starling::stream& later, std::uint64_t number, std::vector<std::uint64_t>& over);
  void make_wait(starling::stream& later, std::uint64_t number);
  // An event that is reached when sync point `number` is over.
  event after(std::uint64_t number);
  // Makes sure that the newest sync point has a point of its own: work that is given from now on is not part of it.
  void pin_newest();

  // Until all of it is over; nothing if nobody has had the stream since that last held. Throws what failed in it.
  void synchronize();

  // Whether the slot's later work starts after this sync point anyway.
  bool covers(const sync_point& m) const;
  // The slot was made to wait for such a point.
  void merge(const std::vector<std::uint64_t>& known);

  // Sync points up to here are over before anything that is given from now on, on any slot.
  std::uint64_t completed() const { return completed_; }
  // Makes all sync points so far such, and forgets the points.
  void all_completed();

  // Whether somebody is giving it work; then others had better take another slot.
  bool try_take() { return !taken_.exchange(true); }
  void leave() { taken_ = false; }

 private:
  // A recorded point, and up to which sync point of every slot all is over when it is reached.
  struct point {
    std::uint64_t number;
    event reached;
    std::vector<std::uint64_t> known;
  };
  void make_stream();
  const point& point_after(std::uint64_t number);   // the lock is held
  const point& record_event(std::uint64_t number);  // the lock is held

  std::uint32_t id_;
  int pe_;
  machine& machine_;
  std::atomic<std::uint64_t>& clock_;
  int priority_;
  std::optional<starling::stream> stream_;
  std::atomic<bool> has_stream_{false};
  std::mutex making_;
  std::atomic<std::uint64_t> newest_{0};
  std::atomic<std::uint64_t> handed_out_{0};        // how often somebody got the stream, and may have given it work
  std::atomic<std::uint64_t> over_when_handed_{0};  // so often when all of it was over last
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<bool> taken_{false};
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> known_;  // by slot
  std::deque<point> points_;          // the newest last
};

}  // namespace starling::stf
