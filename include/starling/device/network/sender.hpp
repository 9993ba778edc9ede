// The block's end of a queue pair: takes places in the ring, writes entries, tells the card, and looks for completions.
// Several warps of a block may use one queue: they take places by ticket and tell the card in that order.
//
// An entry's way: reserve, patch (or build, if the slot had something else), release, doorbell record, doorbell; the
// card then fetches it, carries it out and writes a completion, which poll() finds.
#pragma once

#include "starling/device/network/bus.hpp"

namespace starling::network {

// Bus: see direct_bus; beside that
//   void reserved(queue_pair, number, n)    entries that the caller is about to write
//   begin_post(), posted(...), answered(queue_pair)    for a trace: see card_trace
//   bool pause(queue_pair)                  called between looks; false: give up
template <class Bus>
class sender {
 public:
  STARLING_HD sender(const queue_pair& q, Bus& bus) : q_(q), s_(*q.state), bus_(bus) {}

  // Puts up to two entries into the ring and tells the card. The last one asks for a completion. The number behind
  // them, for wait(); 0 when the queue has failed, or the bus gave up.
  STARLING_HD std::uint64_t post(order* orders, std::uint64_t n) const {
    const std::uint64_t begin = bus_.begin_post();
    const std::uint64_t first = bus_.take(s_.reserved, n);
    bus_.reserved(q_, first, n);
    // A slot is free when the entry that was there a round before is done.
    const std::uint64_t end = first + n;
    if (end > q_.depth && !wait(end - q_.depth)) return 0;
    std::uint64_t control = 0;
    for (std::uint64_t i = 0; i < n; ++i) control = write(first + i, orders[i], i + 1 == n);
    if (!publish(first, n, control)) return 0;
    bus_.posted(q_, first, orders, n, begin);
    return end;
  }

  // Until the card has done all entries before this number. False: the queue has failed, or the bus gave up.
  STARLING_HD bool wait(std::uint64_t end) const {
    while (true) {
      if (failed()) return false;
      if (bus_.look(s_.completed) >= end) {
        bus_.answered(q_);  // also what another thread has seen
        return true;
      }
      if (!poll() && !bus_.pause(q_)) return false;
    }
  }

  // Until the card has done all that was posted before.
  STARLING_HD bool quiet() const { return wait(bus_.look(s_.reserved)); }
  // What is posted next comes, at the peer, after all that was posted before.
  STARLING_HD void fence() const { bus_.set(s_.fence_next, 1U); }

  STARLING_HD bool failed() const { return bus_.look(s_.error) != 0; }

  // Looks for completions; whether there was one.
  STARLING_HD bool poll() const {
    if (bus_.exchange(s_.polling, 1U) != 0) return false;
    std::uint64_t number = s_.polled;
    // They come in order, so one says that all before it have come: first the one in the middle is looked at. Of errors
    // the first counts, and behind it each entry has a completion, asked for or not.
    const std::uint64_t asked = bus_.look(s_.asked);
    const std::uint64_t middle = number + (asked > number ? asked - number : 0) / 2;
    std::uint64_t last = last_of(middle);
    if (middle != number && is_new(last, middle, q_.depth) && !is_error(last))
      number = middle;
    else if (middle != number)
      last = last_of(number);
    completion& c = q_.completions[number & (q_.depth - 1)];
    const bool came = is_new(last, number, q_.depth);
    if (came) {
      const std::uint64_t entry_done = unwrapped(s_.completed, index_of(last));
      if (is_error(last) && !failed()) {
        s_.failed = entry_done;
        bus_.set(s_.error, static_cast<std::uint32_t>(status_of(big_endian(bus_.load(c.word[6])))));
      }
      s_.polled = number + 1;
      bus_.tell(*q_.completion_record, big_endian(s_.polled & 0xffffffff));
      bus_.set(s_.completed, entry_done + 1);
      bus_.answered(q_);
    }
    bus_.set(s_.polling, 0U);
    return came;
  }

 private:
  STARLING_HD std::uint64_t last_of(std::uint64_t number) const {
    return big_endian(bus_.load(q_.completions[number & (q_.depth - 1)].word[7]));
  }

  // Returns word 0, as it lies in memory.
  STARLING_HD std::uint64_t write(std::uint64_t number, order& o, bool last) const {
    o.index = static_cast<std::uint16_t>(number);
    o.queue = q_.number;
    const std::uint64_t slot = number & (q_.depth - 1);
    if (last) o.flags |= wants_completion;
    if (bus_.look(s_.fence_next) != 0 && bus_.exchange(s_.fence_next, 0U) != 0) o.flags |= fenced;
    entry& e = q_.ring[slot];
    const std::uint8_t keeps = kept_by(o.flags, o.remote_key, q_);
    if (is_atomic(o.what) || keeps == unlike_others || q_.kept[slot] != keeps) {
      const entry whole = built(o);
      for (int i = 0; i < 8; ++i) bus_.store(e.word[i], whole.word[i]);
      q_.kept[slot] = keeps;
      return whole.word[0];
    }
    const std::uint64_t control = big_endian(control_word(o));
    bus_.store(e.word[0], control);
    bus_.store(e.word[2], big_endian(o.remote));
    std::uint64_t fourth = data_word(o);
    std::uint64_t fifth = o.local;
    if (o.carries) carried_words(o, fourth, fifth);
    bus_.store(e.word[4], big_endian(fourth));
    bus_.store(e.word[5], big_endian(fifth));
    return control;
  }

  // After those who took places before. The doorbell says what the last entry is; the record, which the card reads
  // when it has missed a doorbell, which one is next. `control`: word 0 of the last entry.
  STARLING_HD bool publish(std::uint64_t first, std::uint64_t n, std::uint64_t control) const {
    bus_.release();
    while (bus_.look(s_.published) != first) {
      if (failed() || !bus_.pause(q_)) return false;
    }
    bus_.set(s_.asked, bus_.look(s_.asked) + 1);
    const std::uint64_t end = first + n;
    bus_.tell(*q_.record, big_endian(end & 0xffff));
    bus_.release();
    bus_.tell(*q_.doorbell, control);
    bus_.set(s_.published, end);
    return true;
  }

  const queue_pair& q_;
  queue_state& s_;
  Bus& bus_;
};

}  // namespace starling::network
