/* What is put and not waited for: its order, much of it at once, by several threads, and to PEs that only compute; and
   a lock that all want. */
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { WORDS = 64, ROUNDS = 200, PIECE = 1 << 20, PIECES = 12, THREADS = 3, TIMES = 100, MOST = 8 };

static int me, n, right, left;
static long box[WORDS], flag, answer, told, counter, computed, finished;
static long slots[THREADS], signalled[MOST][WORDS];
static uint64_t arrived;
static long lock, locked, taken;

/* A flag that is put behind a fence comes after the data, whose source is used again at once. */
static void behind_a_fence(void) {
  long source[WORDS];
  for (long r = 1; r <= ROUNDS; ++r) {
    for (int i = 0; i < WORDS; ++i) source[i] = 1000 * r + 10 * me + i;
    shmem_long_put(box, source, WORDS, right);
    memset(source, 0, sizeof source);
    shmem_fence();
    shmem_long_p(&flag, r, right);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, r);
    for (int i = 0; i < WORDS; ++i) CHECK(box[i] == 1000 * r + 10 * left + i);
    shmem_long_atomic_set(&answer, r, left);
    shmem_long_wait_until(&answer, SHMEM_CMP_EQ, r);
  }
  shmem_barrier_all();
}

/* More than waits on its way, from one buffer. */
static void much_at_once(void) {
  char* all = shmem_malloc((size_t)PIECE * PIECES);
  char* piece = malloc(PIECE);
  for (int i = 0; i < PIECES; ++i) {
    memset(piece, 16 * me + i, PIECE);
    shmem_putmem(all + (size_t)i * PIECE, piece, PIECE, right);
  }
  memset(piece, 0, PIECE);
  shmem_barrier_all();
  for (int i = 0; i < PIECES; ++i)
    for (int k = 0; k < PIECE; k += 257) CHECK(all[(size_t)i * PIECE + (size_t)k] == (char)(16 * left + i));
  free(piece);
  /* The same in one call, and words that are far apart. */
  char* copy = malloc((size_t)PIECE * PIECES);
  shmem_getmem(copy, all, (size_t)PIECE * PIECES, right);
  for (int i = 0; i < PIECES; ++i)
    for (int k = 0; k < PIECE; k += 257) CHECK(copy[(size_t)i * PIECE + (size_t)k] == (char)(16 * me + i));
  memset(copy, me + 1, (size_t)PIECE * PIECES);
  shmem_barrier_all();
  shmem_putmem(all, copy, (size_t)PIECE * PIECES, right);
  shmem_barrier_all();
  for (size_t k = 0; k < (size_t)PIECE * PIECES; k += 257) CHECK(all[k] == left + 1);
  enum { WIDE = PIECE * PIECES / (int)(16 * sizeof(int)) };
  int* numbers = (int*)copy;
  for (int i = 0; i < WIDE; ++i) numbers[i] = 7 * i + me;
  shmem_barrier_all();
  shmem_int_iput((int*)all, numbers, 16, 1, WIDE, right);
  shmem_barrier_all();
  for (int i = 0; i < WIDE; ++i) CHECK(((int*)all)[16 * i] == 7 * i + left);
  free(copy);
  shmem_free(all);
}

/* PE 2 learns from PE 1 that what PE 0 has put to it is there. */
static void told_by_another(void) {
  enum { LARGE = 7 * PIECE };
  char* data = shmem_calloc(LARGE, 1);
  char* source = malloc(LARGE);
  for (int r = 1; n > 2 && r <= 10; ++r) {
    if (me == 0) {
      memset(source, r, LARGE);
      shmem_putmem_nbi(data, source, LARGE, 2);
      shmem_quiet();
      shmem_long_p(&told, r, 1);
    }
    if (me == 1) {
      shmem_long_wait_until(&told, SHMEM_CMP_EQ, r);
      shmem_long_p(&told, r, 2);
    }
    if (me == 2) {
      shmem_long_wait_until(&told, SHMEM_CMP_EQ, r);
      for (int i = LARGE - 1; i >= 0; i -= 1021) CHECK(data[i] == r);
    }
    shmem_sync_all();
  }
  free(source);
  shmem_free(data);
}

/* The last PE makes no call meanwhile. */
static void while_one_computes(void) {
  if (me == n - 1)
    while (__atomic_load_n(&finished, __ATOMIC_SEQ_CST) == 0) sched_yield();
  if (me == 0) {
    for (long i = 0; i < TIMES; ++i) {
      CHECK(shmem_long_atomic_fetch_inc(&computed, n - 1) == i);
      CHECK(shmem_long_g(&computed, n - 1) == i + 1);
    }
    shmem_long_p(&finished, 1, n - 1);
  }
  shmem_barrier_all();
  CHECK(me != n - 1 || computed == TIMES);
}

static void* put_and_count(void* number) {
  const int t = (int)(intptr_t)number;
  for (long i = 1; i <= TIMES; ++i) {
    shmem_long_p(&slots[t], 1000 * t + i, right);
    shmem_quiet();
    CHECK(shmem_long_g(&slots[t], right) == 1000 * t + i);
    shmem_long_atomic_inc(&counter, (me + t) % n);
  }
  return NULL;
}

static void by_threads(void) {
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; ++t) CHECK(pthread_create(&threads[t], NULL, put_and_count, (void*)(intptr_t)t) == 0);
  for (int t = 0; t < THREADS; ++t) CHECK(pthread_join(threads[t], NULL) == 0);
  shmem_barrier_all();
  CHECK(counter == THREADS * TIMES);
}

/* All put to PE 0, and add to one signal behind their data. */
static void signals(void) {
  long mine[WORDS];
  for (int i = 0; i < WORDS; ++i) mine[i] = number_of(7, me, i);
  shmem_long_put_signal_nbi(signalled[me], mine, WORDS, &arrived, 1, SHMEM_SIGNAL_ADD, 0);
  if (me == 0) {
    CHECK(shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, (uint64_t)n) == (uint64_t)n);
    for (int pe = 0; pe < n; ++pe)
      for (int i = 0; i < WORDS; ++i) CHECK(signalled[pe][i] == number_of(7, pe, i));
  }
  shmem_quiet();
  shmem_barrier_all();
}

static void one_at_a_time(void) {
  for (int i = 0; i < TIMES / 4; ++i) {
    if (i % 2 == 0)
      shmem_set_lock(&lock);
    else
      while (shmem_test_lock(&lock) != 0) sched_yield();
    CHECK(shmem_long_atomic_fetch_inc(&taken, n - 1) == 0);
    const long seen = shmem_long_g(&locked, n - 1);
    shmem_long_p(&locked, seen + 1, n - 1);
    shmem_long_atomic_add(&taken, -1, n - 1);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  CHECK(shmem_long_g(&locked, n - 1) == (long)n * (TIMES / 4) && lock == 0);
}

int main(void) {
  int provided;
  CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
  me = shmem_my_pe();
  n = shmem_n_pes();
  right = (me + 1) % n;
  left = (me + n - 1) % n;
  behind_a_fence();
  much_at_once();
  told_by_another();
  if (n > 1) while_one_computes();
  by_threads();
  signals();
  one_at_a_time();
  shmem_finalize();
  return 0;
}
