// Locks by OpenSHMEM's names. Whoever contends for one is a block; several of a PE may. A queue lock (Mellor-Crummey
// and Scott 1991): blocks get it in the order in which they have asked, and each waits for a word in the memory of its
// own PE, so that waiting costs the others nothing.
//
//   set_lock     waits, with a deadline, until the block holds the lock
//   test_lock    takes it if nobody has it; 0: the block holds it now, 1: it does not
//   clear_lock   gives it back: everything that the block has written, and its puts to any PE, is visible to the next
//                holder, which set_lock and test_lock tell of it
//
// All are collectives of the block. A lock that is cleared by a block that does not hold it, or set by the one that
// does, ends the program with argument_error; a block beyond the number that the lock was made for, with range_error.
// The blocks are those of one program: of several that run at once, one uses a lock.
#pragma once

#include "starling/device/block.hpp"
#include "starling/device/lock_report.hpp"
#include "starling/machine/machine.hpp"

namespace starling::shmem {

// A lock as kernels see it: plain data, made by make_lock.
class lock {
 public:
  constexpr lock() = default;
  constexpr lock(sym<std::uint64_t> words, int blocks, int home) : words_(words), blocks_(blocks), home_(home) {}

  // Blocks on each PE that may contend.
  STARLING_HD int blocks() const { return blocks_; }

  // ---- for the calls ----

  // Blocks have numbers from 1, over all PEs; 0 is none.
  STARLING_HD std::uint64_t number_of(int pe, int block) const {
    return 1 + static_cast<std::uint64_t>(pe) * static_cast<std::uint64_t>(blocks_) + static_cast<std::uint64_t>(block);
  }
  STARLING_HD int pe_of(std::uint64_t number) const {
    return static_cast<int>((number - 1) / static_cast<std::uint64_t>(blocks_));
  }
  STARLING_HD int block_of(std::uint64_t number) const {
    return static_cast<int>((number - 1) % static_cast<std::uint64_t>(blocks_));
  }

  // The block that has asked last, at PE home().
  STARLING_HD sym<std::uint64_t> tail() const { return words_; }
  STARLING_HD int home() const { return home_; }
  // Of a block, in the memory of its PE: who has asked after it, and whether it holds the lock.
  STARLING_HD sym<std::uint64_t> next(int block) const { return words_ + (1 + block); }
  STARLING_HD sym<std::uint64_t> held(int block) const { return words_ + (1 + blocks_ + block); }

  static constexpr index_t words_of(int blocks) { return 1 + 2 * static_cast<index_t>(blocks); }

 private:
  sym<std::uint64_t> words_;
  int blocks_ = 0;
  int home_ = 0;
};

// Owns the memory of a lock, the same on every PE; frees it when it dies.
class symmetric_lock {
 public:
  symmetric_lock() = default;
  // Throws argument_error, range_error for a home that does not exist, and memory_error as machine::allocate does.
  symmetric_lock(machine& m, int blocks, int home) : blocks_(blocks), home_(home) {
    expect<argument_error>(blocks >= 1, "shmem::make_lock: ", blocks,
                           " blocks; name how many blocks of each PE contend at most, at least 1");
    expect<range_error>(home >= 0 && home < m.size(), "shmem::make_lock: home PE ", home, " of a machine with ",
                        m.size(), "; PEs are numbered from 0 to ", m.size() - 1);
    words_ = m.allocate<std::uint64_t>(lock::words_of(blocks));
    reset(m);
  }

  // Throws argument_error when the lock was moved from.
  lock handle() const { return {words_.data(), blocks_, home_}; }

  // Between programs: nobody holds it, also after one that has ended with the lock set.
  void reset(machine& m) {
    for (int pe = 0; pe < m.size(); ++pe)
      m.fill(words_.on(pe), 0, static_cast<std::size_t>(words_.size()) * sizeof(std::uint64_t));
  }

 private:
  symmetric_array<std::uint64_t> words_;
  int blocks_ = 0;
  int home_ = 0;
};

// A lock for up to `blocks` blocks of each PE. At `home` they queue: the PE that uses it most.
inline symmetric_lock make_lock(machine& m, int blocks, int home = 0) { return {m, blocks, home}; }

namespace detail {

// Ends the program, for every thread of the block.
STARLING_HD inline void refuse_lock(const block& b, const lock_fault& f, where at) {
  if constexpr (target::on_gpu) {
    if (b.member() == 0) gpu::refuse_lock(b.state(), b.index(), f, at);
    b.sync();
    b.give_up();
  } else {
    throw_lock_fault(lock_caller(b.pe(), b.index(), at), b.index(), f);
  }
}

// The number of the calling block.
STARLING_HD inline std::uint64_t contender(const block& b, const lock& l, where at) {
  if (b.index() >= l.blocks()) refuse_lock(b, {lock_defect::no_such_block, any_pe, l.blocks()}, at);
  return l.number_of(b.pe(), b.index());
}

STARLING_HD inline bool holds_lock(const block& b, const lock& l, int pe, int block, where at) {
  return b.atomic_fetch(l.held(block), pe, cuda::memory_order_relaxed, at) != 0;
}

STARLING_HD inline void refuse_clear(const block& b, const lock& l, where at) {
  lock_fault f;
  for (int pe = 0; pe < b.n_pes(); ++pe)
    for (int i = 0; i < l.blocks(); ++i)
      if (holds_lock(b, l, pe, i, at)) f = {lock_defect::not_held, pe, i};
  refuse_lock(b, f, at);
}

}  // namespace detail

STARLING_HD inline void set_lock(const block& b, const lock& l, where at = where::current()) {
  const std::uint64_t me = detail::contender(b, l, at);
  if (detail::holds_lock(b, l, b.pe(), b.index(), at)) detail::refuse_lock(b, {lock_defect::held_already}, at);
  const std::uint64_t before = b.atomic_swap(l.tail(), me, l.home(), cuda::memory_order_acq_rel, at);
  if (before == 0) {
    b.atomic_set(l.held(b.index()), 1, b.pe(), cuda::memory_order_relaxed, at);
    return;
  }
  const int ahead = l.pe_of(before);
  b.atomic_set(l.next(l.block_of(before)), me, ahead, cuda::memory_order_release, at);
  b.wait_until(l.held(b.index()), compare::eq, 1, ahead, at);
}

STARLING_HD inline int test_lock(const block& b, const lock& l, where at = where::current()) {
  const std::uint64_t me = detail::contender(b, l, at);
  if (b.atomic_compare_swap(l.tail(), 0, me, l.home(), cuda::memory_order_acq_rel, at) != 0) return 1;
  b.atomic_set(l.held(b.index()), 1, b.pe(), cuda::memory_order_relaxed, at);
  return 0;
}

STARLING_HD inline void clear_lock(const block& b, const lock& l, where at = where::current()) {
  const std::uint64_t me = detail::contender(b, l, at);
  if (!detail::holds_lock(b, l, b.pe(), b.index(), at)) detail::refuse_clear(b, l, at);
  const sym<std::uint64_t> next = l.next(b.index());
  b.atomic_set(l.held(b.index()), 0, b.pe(), cuda::memory_order_relaxed, at);
  std::uint64_t heir = b.atomic_fetch(next, b.pe(), cuda::memory_order_acquire, at);
  if (heir == 0) {
    if (b.atomic_compare_swap(l.tail(), me, 0, l.home(), cuda::memory_order_release, at) == me) return;
    b.wait_until(next, compare::ne, 0, any_pe, at);  // somebody has asked, and will say who
    heir = b.atomic_fetch(next, b.pe(), cuda::memory_order_relaxed, at);
  }
  b.atomic_set(next, 0, b.pe(), cuda::memory_order_relaxed, at);
  b.atomic_set(l.held(l.block_of(heir)), 1, l.pe_of(heir), cuda::memory_order_release, at);
}

}  // namespace starling::shmem
