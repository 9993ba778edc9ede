// A block's puts, gets, signals and atomic operations as entries of one queue pair. Each call returns false when the
// queue has failed, or the bus gave up waiting.
//
// Up to 12 bytes travel in the entry. Other data must be in memory that the card reaches; what is not (a stack, a
// block's shared memory) passes through the queue's staging memory, a piece at a time. A call that gives its source
// back returns when the card has done it.
#pragma once

#include <cstring>

#include "starling/device/host_port.hpp"
#include "starling/device/network/sender.hpp"

namespace starling::network {

// Whether a call for all entries of a context, or of all contexts (less than 0), is about those of a queue.
STARLING_HD constexpr bool is_about(int context, int of_queue) { return context < 0 || context == of_queue; }

template <class Bus>
class carrier {
 public:
  STARLING_HD carrier(const queue_pair& q, Bus& bus) : q_(q), bus_(bus), send_(q, bus) {}

  STARLING_HD bool put(const transfer& t) const {
    std::uint64_t last = 0;  // that reads the caller's memory
    bool good = true;
    each_run(t, [&](std::byte* dest, std::byte* source, std::uint64_t bytes) {
      good = good && put_run(dest, source, bytes, last);
    });
    return good && (!t.blocking || last == 0 || send_.wait(last));
  }

  // The signal comes after what is before it in the queue.
  STARLING_HD bool put_signal(const transfer& t, const signal_update& s) const {
    const std::uint64_t bytes = t.count > 0 ? static_cast<std::uint64_t>(t.count) * t.element : 0;
    order both[2] = {order{}, order_of(s)};
    const bool apart = t.dest_stride != 1 || t.source_stride != 1;
    if (apart || bytes == 0 || bytes > most_entry_bytes || !near(both[0], t.source, bytes, opcode::write))
      return put(t) && signal(s);
    far(both[0], t.dest, bytes);
    const std::uint64_t end = send_.post(both, 2);
    return end != 0 && (!t.blocking || both[0].carries || send_.wait(end));
  }

  STARLING_HD bool signal(const signal_update& s) const {
    order o = order_of(s);
    return send_.post(&o, 1) != 0;
  }

  STARLING_HD bool get(const transfer& t) const {
    std::uint64_t last = 0;
    bool good = true;
    each_run(t, [&](std::byte* dest, std::byte* source, std::uint64_t bytes) {
      good = good && get_run(dest, source, bytes, last);
    });
    return good && (!t.blocking || last == 0 || send_.wait(last));
  }

  // Gives the argument what the word held.
  STARLING_HD bool atomic(const atomic_call& c) const {
    std::uint64_t old = 0;
    bool good = false;
    if (c.card == by_card::add) {
      good = change(c.address, static_cast<std::uint32_t>(c.bytes), opcode::fetch_add, c.operand, 0, old);
    } else if (c.card == by_card::compare_swap) {
      good = change(c.address, static_cast<std::uint32_t>(c.bytes), opcode::compare_swap, c.operand, c.expected, old);
    } else {
      good = change(c.address, static_cast<std::uint32_t>(c.bytes), opcode::fetch_add, 0, 0, old);
      while (good && c.card == by_card::other) {
        const std::uint64_t expected = old;
        good = change(c.address, static_cast<std::uint32_t>(c.bytes), opcode::compare_swap,
                      c.changed(c.argument, expected), expected, old);
        if (old == expected) break;
      }
    }
    if (good) c.answer(c.argument, old);
    return good;
  }

  // One operation of the card; `old`: what the word held.
  STARLING_HD bool change(const void* word, std::uint32_t bytes, opcode what, std::uint64_t operand,
                          std::uint64_t expected, std::uint64_t& old) const {
    order o;
    o.what = what;
    o.operand = operand;
    o.compare = expected;
    far(o, word, bytes);
    bus_.lock_staging();
    near_staging(o, 0);
    const std::uint64_t end = send_.post(&o, 1);
    const bool good = end != 0 && send_.wait(end);
    old = 0;
    if (good) memcpy(&old, q_.staging, bytes);
    bus_.unlock_staging();
    return good;
  }

  // One or two words of 8 bytes, side by side, each of which arrives whole.
  STARLING_HD bool words(std::uint64_t* to, const std::uint64_t* word, int n) const {
    order both[2] = {order{}, order{}};
    for (int i = 0; i < n; ++i) {
      (void)near(both[i], word + i, sizeof *word, opcode::write);
      far(both[i], to + i, sizeof *to);
    }
    return send_.post(both, static_cast<std::uint64_t>(n)) != 0;
  }

  // Staging memory, for a caller who then puts from it; it is locked.
  STARLING_HD std::byte* take_staging() const {
    bus_.lock_staging();
    return q_.staging + answers;
  }

  STARLING_HD void fence() const { send_.fence(); }
  STARLING_HD bool quiet() const { return send_.quiet(); }
  STARLING_HD bool failed() const { return send_.failed(); }
  STARLING_HD bool poll() const { return send_.poll(); }

 private:
  static constexpr std::uint64_t answers = 64;  // bytes of staging memory for what atomic operations give

  template <class F>
  STARLING_HD static void each_run(const transfer& t, const F& f) {
    if (t.count <= 0) return;
    auto* dest = static_cast<std::byte*>(t.dest);
    auto* source = static_cast<std::byte*>(const_cast<void*>(t.source));
    if (t.dest_stride == 1 && t.source_stride == 1)
      return f(dest, source, static_cast<std::uint64_t>(t.count) * t.element);
    const auto element = static_cast<index_t>(t.element);
    for (index_t i = 0; i < t.count; ++i)
      f(dest + i * t.dest_stride * element, source + i * t.source_stride * element, t.element);
  }

  STARLING_HD void far(order& o, const void* address, std::uint64_t bytes) const {
    o.remote = reinterpret_cast<std::uintptr_t>(address);
    o.remote_key = q_.memory.key_of(q_.at_peer, address, bytes);
    o.bytes = static_cast<std::uint32_t>(bytes);
  }
  // False: the card does not reach it.
  STARLING_HD bool near(order& o, const void* address, std::uint64_t bytes, opcode what) const {
    o.what = what;
    if (what == opcode::write && bytes <= inline_bytes) {
      o.carries = true;
      carry(o, address, bytes);
      return true;
    }
    o.local = reinterpret_cast<std::uintptr_t>(address);
    o.local_key = q_.memory.key_of(q_.own, address, bytes);
    return o.local_key != no_key;
  }
  // Whole words by one load: a copy of so many bytes that nobody knows takes them one by one.
  STARLING_HD static void carry(order& o, const void* from, std::uint64_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(from);
    if (bytes == sizeof(std::uint64_t) && at % sizeof(std::uint64_t) == 0)
      memcpy(o.data, __builtin_assume_aligned(from, sizeof(std::uint64_t)), sizeof(std::uint64_t));
    else if (bytes == sizeof(std::uint32_t) && at % sizeof(std::uint32_t) == 0)
      memcpy(o.data, __builtin_assume_aligned(from, sizeof(std::uint32_t)), sizeof(std::uint32_t));
    else
      memcpy(o.data, from, bytes);
  }
  STARLING_HD void near_staging(order& o, std::uint64_t offset) const {
    o.local = reinterpret_cast<std::uintptr_t>(q_.staging + offset);
    o.local_key = q_.staging_key;
  }

  STARLING_HD static std::uint64_t least(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

  STARLING_HD bool put_run(std::byte* dest, const std::byte* source, std::uint64_t bytes, std::uint64_t& last) const {
    for (std::uint64_t done = 0; done < bytes;) {
      order o;
      std::uint64_t n = least(bytes - done, most_entry_bytes);
      const bool reached = near(o, source + done, n, opcode::write);
      if (!reached) {
        n = least(n, q_.staging_bytes - answers);
        bus_.lock_staging();
        memcpy(q_.staging + answers, source + done, n);
        near_staging(o, answers);
      }
      far(o, dest + done, n);
      const std::uint64_t end = send_.post(&o, 1);
      const bool good = end != 0 && (reached || send_.wait(end));
      if (!reached) bus_.unlock_staging();
      if (!good) return false;
      if (reached && !o.carries) last = end;
      done += n;
    }
    return true;
  }

  STARLING_HD bool get_run(std::byte* dest, const std::byte* source, std::uint64_t bytes, std::uint64_t& last) const {
    for (std::uint64_t done = 0; done < bytes;) {
      order o;
      std::uint64_t n = least(bytes - done, most_entry_bytes);
      const bool reached = near(o, dest + done, n, opcode::read);
      if (!reached) {
        n = least(n, q_.staging_bytes - answers);
        bus_.lock_staging();
        near_staging(o, answers);
      }
      far(o, source + done, n);
      const std::uint64_t end = send_.post(&o, 1);
      const bool good = end != 0 && (reached || send_.wait(end));
      if (!reached) {
        if (good) memcpy(dest + done, q_.staging + answers, n);
        bus_.unlock_staging();
      }
      if (!good) return false;
      if (reached) last = end;
      done += n;
    }
    return true;
  }

  // A signal that is set is data of 8 bytes, one that is added to an atomic operation.
  STARLING_HD order order_of(const signal_update& s) const {
    order o;
    o.flags = fenced;
    far(o, s.target, sizeof(starling::signal));
    if (s.op == signal_op::set) {
      o.carries = true;
      memcpy(o.data, &s.value, sizeof s.value);
    } else {
      o.what = opcode::fetch_add;
      o.operand = s.value;
      near_staging(o, sizeof(std::uint64_t));  // what it held is of no interest
    }
    return o;
  }

  const queue_pair& q_;
  Bus& bus_;
  sender<Bus> send_;
};

}  // namespace starling::network
