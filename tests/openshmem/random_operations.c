/* Random operations against a sequential model: every PE draws the same operations of all PEs, does its own, and plays
   all of them on a copy of everybody's memory. Between two meetings no two PEs touch the same place. */
#include "check.h"

enum { WORDS = 64, MOST = 8, ROUNDS = 400 };

static long values[WORDS];
static long model[MOST][WORDS];
static long fetched, model_fetched;

static long play(int pe, int from, int to, int at, int other, int count, int what, long number, int mine) {
  long *here = model[from], *there = model[to];
  long before = there[at];
  switch (what) {
    case 0:
      memmove(there + at, here + other, (size_t)count * sizeof(long));
      if (mine) shmem_long_put(values + at, values + other, (size_t)count, to);
      return 0;
    case 1:
      memmove(here + other, there + at, (size_t)count * sizeof(long));
      if (mine) shmem_long_get(values + other, values + at, (size_t)count, to);
      return 0;
    case 2:
      there[at] = number;
      if (mine) shmem_long_p(values + at, number, to);
      return 0;
    case 3:
      if (mine) fetched = shmem_long_g(values + at, to);
      return before;
    case 4:
      there[at] += number;
      if (mine) fetched = shmem_long_atomic_fetch_add(values + at, number, to);
      return before;
    case 5:
      there[at] = number;
      if (mine) fetched = shmem_long_atomic_swap(values + at, number, to);
      return before;
    case 6:
      if (there[at] == number) there[at] = pe;
      if (mine) fetched = shmem_long_atomic_compare_swap(values + at, number, pe, to);
      return before;
    case 7:
      there[at] = (long)((unsigned long)before ^ (unsigned long)number);
      if (mine) fetched = (long)shmem_ulong_atomic_fetch_xor((unsigned long*)values + at, (unsigned long)number, to);
      return before;
    case 8:
      for (int i = 0; i < count / 2; ++i) there[at + 2 * i] = here[other + i];
      if (mine) shmem_long_iput(values + at, values + other, 2, 1, (size_t)(count / 2), to);
      return 0;
    case 9:
      for (int i = 0; i < count / 2; ++i) here[other + i] = there[at + 2 * i];
      if (mine) shmem_long_iget(values + other, values + at, 1, 2, (size_t)(count / 2), to);
      return 0;
    case 10:
      there[at] += 1;
      if (mine) shmem_long_atomic_inc(values + at, to);
      return 0;
    default:
      memmove(there + at, here + other, (size_t)count * sizeof(long));
      if (mine) shmem_long_put_nbi(values + at, values + other, (size_t)count, to);
      return 0;
  }
}

int main(int argc, char** argv) {
  shmem_init();
  const int me = shmem_my_pe(), n = shmem_n_pes();
  uint64_t state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  for (int pe = 0; pe < n; ++pe)
    for (int i = 0; i < WORDS; ++i) model[pe][i] = number_of(0, pe, i);
  memcpy(values, model[me], sizeof values);
  shmem_barrier_all();
  /* In a round each PE has a part of everybody's words for itself: of two halves, one to read, one to write. */
  const int part = WORDS / n, half = part / 2;
  for (int round = 0; round < ROUNDS; ++round) {
    fetched = model_fetched = 0;
    for (int pe = 0; pe < n; ++pe) {
      const int to = below(&state, n), what = below(&state, 12);
      const int count = 1 + below(&state, half);
      const int start = (pe + round) % n * part;
      const int at = start + below(&state, half - count + 1);
      const int other = start + half + below(&state, half - count + 1);
      const long number = below(&state, 5);
      const long before = play(pe, pe, to, at, other, count, what, number, pe == me);
      if (pe == me) model_fetched = before;
    }
    shmem_barrier_all();
    CHECK(fetched == model_fetched);
    for (int i = 0; i < WORDS; ++i) CHECK(values[i] == model[me][i]);
    shmem_barrier_all();
  }
  shmem_finalize();
  return 0;
}
