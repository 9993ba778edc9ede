// What the threads of a group do to reach a PE of another host by way of the network card, on a GPU: the leader asks
// the card, between barriers of the group. Mixin for block, warp and thread, below communication.
#pragma once

#include "starling/device/signalling.hpp"

namespace starling {

template <class Self>
class card_calls : public signalling<Self> {
 protected:
  // call() by the group's leader, after what its threads have written; false: the program is to end.
  template <class Call>
  STARLING_HD void ask_card(operation op, where at, const Call& call) const {
    self().sync();
    bool good = true;
    if (leader()) good = call();
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

  template <class T>
  STARLING_HD void card_put(T* dest, index_t dest_stride, const T* source, index_t source_stride, index_t n, int pe,
                            bool blocking, where at) const {
    ask_card(operation::put, at, [&] {
      return network::put(self().state(), self().index(),
                          card_transfer(dest, dest_stride, source, source_stride, n, pe, blocking, at));
    });
  }

  // f(i) as element i: as many at a time as there is staging memory for.
  template <class T, class F>
  STARLING_HD void card_put_made(T* dest, const F& f, index_t n, int pe, where at) const {
    constexpr index_t room = static_cast<index_t>(network::staging_room / sizeof(T));
    static_assert(room > 0, "elements of up to 4096 bytes go by way of a card");
    std::byte* memory = nullptr;
    ask_card(operation::put, at, [&] {
      memory = network::take_staging(self().state(), self().index(), self().context_number(), pe, operation::put, at);
      return memory != nullptr;
    });
    T* staged = reinterpret_cast<T*>(self().first(memory));
    for (index_t start = 0; start < n; start += room) {
      const index_t some = n - start < room ? n - start : room;
      for (index_t i = self().member(); i < some; i += self().members()) staged[i] = f(start + i);
      card_put(dest + start, 1, static_cast<const T*>(staged), 1, some, pe, true, at);
    }
    if (leader()) network::give_staging(self().context_number(), pe);
  }

  template <class T>
  STARLING_HD T card_value(const T* source, int pe, where at) const {
    T value{};
    ask_card(operation::get, at, [&] {
      return network::get(self().state(), self().index(), card_transfer(&value, 1, source, 1, 1, pe, true, at));
    });
    if constexpr (sizeof(T) <= target::reduce_slot_bytes && sizeof(T) % 4 == 0) {
      return self().first(value);
    } else {
      // Of what does not travel between threads each fetches its own.
      if (!leader() &&
          !network::get(self().state(), self().index(), card_transfer(&value, 1, source, 1, 1, pe, true, at)))
        this->end_thread();
      return value;
    }
  }

 private:
  STARLING_HD const Self& self() const { return static_cast<const Self&>(*this); }
  STARLING_HD bool leader() const { return self().member() == 0; }
};

}  // namespace starling
