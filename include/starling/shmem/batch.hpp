// A batch: non-blocking puts to one PE with one fence and one completion for all, however many they are. It is a
// context of its own, so that its completion waits for nothing else.
//
//   shmem::batch to(b, right);
//   for (int i = 0; i < rows; ++i) to.put(halo + i * width, row(i), n);
//   to.signal_set(arrived, step);   // one release for all of them
//   to.quiet();                     // the sources may be reused; the end of the scope does it too
#pragma once

#include "starling/shmem/context.hpp"
#include "starling/shmem/signals.hpp"

namespace starling::shmem {

template <class Group>
class batch {
 public:
  // All puts go to `pe`, which is checked with the first.
  STARLING_HD batch(const Group& g, int pe) : puts_(g), pe_(pe) {}

  // The source must stay as it is until quiet().
  template <symmetric_address Dest>
  [[gnu::always_inline]] STARLING_HD void put(Dest dest, const element_of<Dest>* source, index_t n,
                                              where at = where::current()) const {
    puts_.put_nbi(symmetric(puts_, dest, at), source, n, pe_, at);
  }

  // Raises a signal after the data of all puts before.
  template <signal_address Signal>
  STARLING_HD void signal_set(Signal sig, std::uint64_t value, where at = where::current()) const {
    raise(sig, value, signal_op::set, at);
  }
  template <signal_address Signal>
  STARLING_HD void signal_add(Signal sig, std::uint64_t value, where at = where::current()) const {
    raise(sig, value, signal_op::add, at);
  }

  // All puts have arrived.
  STARLING_HD void quiet() const { puts_.quiet(); }

 private:
  // On a GPU the signal's own release, behind a barrier of the group, covers what all its threads have written.
  template <class Signal>
  STARLING_HD void raise(Signal sig, std::uint64_t value, signal_op op, where at) const {
    if constexpr (!target::on_gpu) puts_.fence();
    const sym<signal> s = symmetric_signal(puts_, sig, at);
    if (op == signal_op::set)
      puts_.signal_set(s, value, pe_, at);
    else
      puts_.signal_add(s, value, pe_, at);
  }

  context<Group> puts_;
  int pe_;
};

}  // namespace starling::shmem
