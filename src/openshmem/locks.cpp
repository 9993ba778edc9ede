#include "locks.hpp"

#include <cstdint>

#include "atomics.hpp"
#include "world.hpp"

namespace starling::openshmem {
namespace {

// Three parts of a word. All are 0 when nobody has the lock or asks for it.
struct state {
  static constexpr std::uint64_t number_bits = 24;
  static constexpr std::uint64_t numbers = std::uint64_t{1} << number_bits;

  std::uint64_t next = 0;   // is handed out
  std::uint64_t turn = 0;   // of this number
  std::uint64_t owner = 0;  // 1 + PE; 0: nobody

  explicit state(std::uint64_t word)
      : next(word % numbers), turn(word / numbers % numbers), owner(word / numbers / numbers) {}
  std::uint64_t word() const { return next + (turn + owner * numbers) * numbers; }
  bool is_free() const { return next == turn && owner == 0; }
};

class lock_word {
 public:
  explicit lock_word(long* lock) : word_(SHMEM_CTX_DEFAULT, reinterpret_cast<std::uint64_t*>(lock), 0, "lock") {
    (void)now();
  }

  state now() { return state(seen_ = word_.load()); }
  // As it was when it was looked at last.
  state seen() const { return state(seen_); }

  // Gives the state that f has changed, as it was before.
  template <class F>
  state change(const F& f) {
    for (;;) {
      state s(seen_);
      f(s);
      const std::uint64_t before = word_.compare_swap(seen_, s.word());
      const bool changed = before == seen_;
      seen_ = changed ? s.word() : before;
      if (changed) return state(before);
    }
  }

  template <class Ready>
  void wait(const Ready& ready) {
    word_.w.wait_for_word_of(0, word_.address, ready, [&] {
      const std::uint64_t owner = now().owner;
      return owner == 0 ? std::string("nobody took its turn of the lock")
                        : message("PE ", owner - 1, " did not clear the lock");
    });
  }

 private:
  word_of_pe<std::uint64_t> word_;
  std::uint64_t seen_ = 0;
};

std::uint64_t own_number() { return static_cast<std::uint64_t>(world::here().me()) + 1; }

}  // namespace

void set_lock(long* lock) {
  lock_word l(lock);
  const std::uint64_t me = own_number();
  expect<argument_error>(l.seen().owner != me, call(), ": this PE has the lock already; clear it first");
  const state before = l.change([&](state& s) {
    if (s.is_free()) s.owner = me;
    s.next = (s.next + 1) % state::numbers;
  });
  if (before.is_free()) return;
  const std::uint64_t mine = before.next;
  const auto my_turn = [&] {
    const state s = l.now();
    return s.turn == mine && s.owner == 0;
  };
  if (!my_turn()) l.wait(my_turn);
  (void)l.change([&](state& s) { s.owner = me; });
}

int test_lock(long* lock) {
  lock_word l(lock);
  const std::uint64_t me = own_number();
  bool taken = true;
  const state before = l.change([&](state& s) {
    taken = !s.is_free();
    if (taken) return;
    s.next = (s.next + 1) % state::numbers;
    s.owner = me;
  });
  if (taken && before.owner != me) world::here().tested_in_vain();
  return taken ? 1 : 0;
}

void clear_lock(long* lock) {
  lock_word l(lock);
  const std::uint64_t owner = l.seen().owner;
  expect<argument_error>(owner != 0, call(), ": nobody has the lock; set it first");
  expect<argument_error>(owner == own_number(), call(), ": PE ", owner - 1,
                         " has the lock; a lock is cleared by the PE that has set it");
  quiet(SHMEM_CTX_DEFAULT);
  (void)l.change([](state& s) {
    s.owner = 0;
    s.turn = (s.turn + 1) % state::numbers;
    if (s.turn == s.next) s.turn = s.next = 0;
  });
}

}  // namespace starling::openshmem
