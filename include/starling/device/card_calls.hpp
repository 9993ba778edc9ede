// What the threads of a group do to reach a PE of another host by way of the network card, on a GPU: the leader asks
// the card, between barriers of the group. Mixin for block, warp and thread, below communication.
#pragma once

#include "starling/device/signalling.hpp"

namespace starling {

template <class Self>
class card_calls : public signalling<Self> {
 protected:
  // call(requests) by the group's leader, after what its threads have written; false: the program is to end.
  template <class Call>
  STARLING_HD void ask_card(operation op, where at, const Call& call) const {
    self().sync();
    bool good = true;
    if (leader()) good = network::request(self(), call);
    this->end_if(!good, op, at);
  }

  template <class T>
  STARLING_HD transfer card_transfer(T* dest, index_t dest_stride, const T* source, index_t source_stride, index_t n,
                                     int pe, bool blocking, where at) const {
    return {dest,
            source,
            n,
            sizeof(T),
            dest_stride,
            source_stride,
            pe,
            blocking,
            at,
            unknown_bytes,
            self().context_number()};
  }

  // What the card takes from staging memory, as a thread of the host does, which reaches no other near by, is written
  // there by the whole group.
  template <class T>
  STARLING_HD bool goes_by_staging(index_t n) const {
    const auto bytes = static_cast<std::uint64_t>(n) * sizeof(T);
    return n > 0 && bytes > network::inline_bytes && bytes <= self().state().network->staged;
  }

  template <class T>
  STARLING_HD void card_put(T* dest, index_t dest_stride, const T* source, index_t source_stride, index_t n, int pe,
                            bool blocking, where at) const {
    if (dest_stride == 1 && goes_by_staging<T>(n)) {
      card_put_made(dest, [=](index_t i) { return source[i * source_stride]; }, n, pe, at);
      return;
    }
    ask_card(operation::put, at, [&](auto card) {
      return card.put(self().state(), self().index(),
                      card_transfer(dest, dest_stride, source, source_stride, n, pe, blocking, at));
    });
  }

  template <class T>
  STARLING_HD void card_put_signal(T* dest, const T* source, index_t n, const signal_update& s, int pe, bool blocking,
                                   where at) const {
    if (goes_by_staging<T>(n)) {
      card_put_made(dest, [=](index_t i) { return source[i]; }, n, pe, at, &s);
      return;
    }
    ask_card(operation::put, at, [&](auto card) {
      return card.put_signal(self().state(), self().index(), card_transfer(dest, 1, source, 1, n, pe, blocking, at), s);
    });
  }

  // f(i) as element i, and then a signal if there is one: as many at a time as there is staging memory for.
  template <class T, class F>
  STARLING_HD void card_put_made(T* dest, const F& f, index_t n, int pe, where at,
                                 const signal_update* then = nullptr) const {
    constexpr index_t room = static_cast<index_t>(network::staging_room / sizeof(T));
    static_assert(room > 0, "elements of up to 4096 bytes go by way of a card");
    std::byte* memory = nullptr;
    ask_card(operation::put, at, [&](auto) {
      memory = network::take_staging(self().state(), self().index(), self().context_number(), pe, operation::put, at);
      return memory != nullptr;
    });
    T* staged = reinterpret_cast<T*>(self().first(memory));
    index_t start = 0;
    do {
      const index_t some = n - start < room ? n - start : room;
      for (index_t i = self().member(); i < some; i += self().members()) staged[i] = f(start + i);
      const bool last = start + some >= n;
      ask_card(operation::put, at, [&](auto card) {
        const transfer t = card_transfer(dest + start, 1, static_cast<const T*>(staged), 1, some, pe, true, at);
        return last && then != nullptr ? card.put_signal(self().state(), self().index(), t, *then)
                                       : card.put(self().state(), self().index(), t);
      });
      start += some;
    } while (start < n);
    if (leader()) network::give_staging(self().context_number(), pe);
  }

  // What the group has given to the card before the call has arrived on return.
  STARLING_HD void card_quiet(where at) const {
    ask_card(operation::quiet, at,
             [&](auto card) { return card.quiet(self().state(), self().index(), self().context_number(), at); });
  }

  template <class T>
  STARLING_HD T card_value(const T* source, int pe, where at) const {
    T value{};
    const auto fetch = [&](auto card) {
      return card.get(self().state(), self().index(), card_transfer(&value, 1, source, 1, 1, pe, true, at));
    };
    ask_card(operation::get, at, fetch);
    if constexpr (sizeof(T) <= target::reduce_slot_bytes && sizeof(T) % 4 == 0) {
      return self().first(value);
    } else {
      // Of what does not travel between threads each fetches its own.
      if (!leader() && !network::request(self(), fetch)) this->end_thread();
      return value;
    }
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }
  STARLING_HD bool leader() const { return self().member() == 0; }
};

}  // namespace starling
