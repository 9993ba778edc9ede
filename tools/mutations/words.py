"""Mistakes in locks and in waits for words."""

from __future__ import annotations

from mutations.model import Program, in_file

LOCK = "include/starling/shmem/lock.hpp"
WAITS = "include/starling/device/waits.hpp"

PROGRAMS = {
    "locks": Program(
        ("tests/mutate/locks.cpp",), tuple((header, ("tests/mutate/locks.cpp",)) for header in (LOCK, WAITS))
    ),
}

MUTATIONS = [
    *in_file(
        "locks",
        LOCK,
        ("the block ahead is not told who comes after it",
         "  b.atomic_set(l.next(l.block_of(before)), me, ahead, cuda::memory_order_release, at);\n", ""),
        ("a block does not wait for the one ahead",
         "  b.wait_until(l.held(b.index()), compare::eq, 1, ahead, at);\n",
         "  b.atomic_set(l.held(b.index()), 1, b.pe(), cuda::memory_order_relaxed, at);\n"),
        ("a block takes the place of the one ahead",
         "  const int ahead = l.pe_of(before);\n",
         "  const int ahead = l.pe_of(before);\n"
         "  b.atomic_set(l.tail(), before, l.home(), cuda::memory_order_relaxed, at);\n"),
        ("a lock handed on before what was written under it",
         "b.atomic_set(l.held(l.block_of(heir)), 1, l.pe_of(heir), cuda::memory_order_release, at);",
         "b.atomic_set(l.held(l.block_of(heir)), 1, l.pe_of(heir), cuda::memory_order_relaxed, at);"),
        ("a free lock that tells of nothing",
         "b.atomic_compare_swap(l.tail(), me, 0, l.home(), cuda::memory_order_release, at)",
         "b.atomic_compare_swap(l.tail(), me, 0, l.home(), cuda::memory_order_relaxed, at)"),
        ("a free lock taken without learning of the last holder",
         "b.atomic_swap(l.tail(), me, l.home(), cuda::memory_order_acq_rel, at)",
         "b.atomic_swap(l.tail(), me, l.home(), cuda::memory_order_release, at)"),
        ("a lock tried without learning of the last holder",
         "b.atomic_compare_swap(l.tail(), 0, me, l.home(), cuda::memory_order_acq_rel, at)",
         "b.atomic_compare_swap(l.tail(), 0, me, l.home(), cuda::memory_order_release, at)"),
        ("a lock left free while somebody asks",
         "    b.wait_until(next, compare::ne, 0, any_pe, at);  // somebody has asked, and will say who\n",
         "    return;\n"),
        ("the heir of the turn before", "  b.atomic_set(next, 0, b.pe(), cuda::memory_order_relaxed, at);\n", ""),
        ("the lock handed to the heir's first block", "l.held(l.block_of(heir))", "l.held(0)"),
        ("a lock that is tried is always free",
         "  if (b.atomic_compare_swap(l.tail(), 0, me, l.home(), cuda::memory_order_acq_rel, at) != 0) return 1;\n",
         "  (void)b.atomic_compare_swap(l.tail(), 0, me, l.home(), cuda::memory_order_acq_rel, at);\n"),
    ),
    *in_file(
        "locks",
        WAITS,
        ("a wait for a word does nothing",
         "      return self().port().wait(w) ? wait_status::came : wait_status::timed_out;",
         "      return wait_status::came;"),
        ("words compare as if they had no sign", "    w.kind = kind_of<T>();\n",
         "    w.kind = sizeof(T) == 8 ? word_kind::unsigned_8 : word_kind::unsigned_4;\n"),
        ("words that do not count are found",
         "STARLING_HD bool counts(index_t i) const { return status == nullptr || status[i] == 0; }",
         "STARLING_HD bool counts(index_t) const { return true; }"),
        ("the first value for all words",
         "STARLING_HD T wanted(index_t i) const { return values != nullptr ? values[i] : value; }",
         "STARLING_HD T wanted(index_t) const { return values != nullptr ? values[0] : value; }"),
    ),
]  # fmt: skip
