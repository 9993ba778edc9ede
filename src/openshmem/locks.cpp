#include "locks.hpp"

#include <atomic>
#include <cstdint>

#include "contexts.hpp"
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
  explicit lock_word(long* lock)
      : w_(world::here()), there_(reinterpret_cast<std::uint64_t*>(w_.reach(lock, sizeof *lock, 0, "lock"))) {}

  state now() const { return state(ref().load()); }
  void wake() { w_.changed(there_); }

  // Gives the state that f has changed, as it was before.
  template <class F>
  state change(const F& f) {
    std::uint64_t seen = ref().load();
    for (;;) {
      state s(seen);
      f(s);
      if (ref().compare_exchange_weak(seen, s.word())) return state(seen);
    }
  }

  template <class Ready>
  void wait(const Ready& ready) {
    w_.wait_for_change(there_, ready, [&] {
      const std::uint64_t owner = now().owner;
      return owner == 0 ? std::string("nobody took its turn of the lock")
                        : message("PE ", owner - 1, " did not clear the lock");
    });
  }

 private:
  std::atomic_ref<std::uint64_t> ref() const { return std::atomic_ref<std::uint64_t>(*there_); }

  world& w_;
  std::uint64_t* there_;
};

std::uint64_t own_number() { return static_cast<std::uint64_t>(world::here().me()) + 1; }

}  // namespace

void set_lock(long* lock) {
  lock_word l(lock);
  const std::uint64_t me = own_number();
  expect<argument_error>(l.now().owner != me, call(), ": this PE has the lock already; clear it first");
  const std::uint64_t mine = l.change([](state& s) { s.next = (s.next + 1) % state::numbers; }).next;
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
  const std::uint64_t owner = l.now().owner;
  expect<argument_error>(owner != 0, call(), ": nobody has the lock; set it first");
  expect<argument_error>(owner == own_number(), call(), ": PE ", owner - 1,
                         " has the lock; a lock is cleared by the PE that has set it");
  order(SHMEM_CTX_DEFAULT);
  (void)l.change([](state& s) {
    s.owner = 0;
    s.turn = (s.turn + 1) % state::numbers;
    if (s.turn == s.next) s.turn = s.next = 0;
  });
  l.wake();
}

}  // namespace starling::openshmem
