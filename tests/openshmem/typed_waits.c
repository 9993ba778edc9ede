/* Waits and tests: each typed function, at the ends of what its type holds; who waits is woken by a put or an atomic.
 */
#include "check.h"
#include "sets.h"

enum { N = 5 };

static int me, n, right;

/* Signed types have a smallest number below 0, unsigned ones 0. */
#define LEAST(TYPE) ((TYPE) - 1 < (TYPE)1 ? (TYPE)((uint64_t)1 << (8 * sizeof(TYPE) - 1)) : (TYPE)0)
#define GREATEST(TYPE) ((TYPE) - 1 < (TYPE)1 ? (TYPE)(((uint64_t)1 << (8 * sizeof(TYPE) - 1)) - 1) : (TYPE) - 1)

/* All PEs wait for words that their left neighbours write. */
#define AFTER(write)   \
  shmem_barrier_all(); \
  write;

static int compared(int cmp, int less, int equal) {
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return equal;
    case SHMEM_CMP_NE:
      return !equal;
    case SHMEM_CMP_GT:
      return !less && !equal;
    case SHMEM_CMP_LE:
      return less || equal;
    case SHMEM_CMP_LT:
      return less;
    default:
      return !less;
  }
}

#define TEST_WAIT(NAME, TYPE)                                                                                       \
  static void test_wait_##NAME(void) {                                                                              \
    static TYPE word, words[N];                                                                                     \
    const TYPE ends[] = {LEAST(TYPE), (TYPE) - 1, 0, 1, GREATEST(TYPE)};                                            \
    for (int cmp = SHMEM_CMP_EQ; cmp <= SHMEM_CMP_GE; ++cmp)                                                        \
      for (int a = 0; a < N; ++a)                                                                                   \
        for (int b = 0; b < N; ++b) {                                                                               \
          word = ends[a];                                                                                           \
          CHECK(shmem_##NAME##_test(&word, cmp, ends[b]) == compared(cmp, ends[a] < ends[b], ends[a] == ends[b]));  \
        }                                                                                                           \
    word = 0;                                                                                                       \
    AFTER(shmem_##NAME##_p(&word, GREATEST(TYPE), right))                                                           \
    shmem_##NAME##_wait_until(&word, SHMEM_CMP_GT, 1);                                                              \
    CHECK(word == GREATEST(TYPE));                                                                                  \
    shmem_barrier_all();                                                                                            \
    for (int i = 0; i < N; ++i) words[i] = 0;                                                                       \
    int status[N] = {0, 0, 1, 0, 0}, none[N] = {1, 1, 1, 1, 1};                                                     \
    size_t indices[N];                                                                                              \
    TYPE wanted[N] = {1, 2, 99, 4, 5};                                                                              \
    CHECK(shmem_##NAME##_test_any(words, N, status, SHMEM_CMP_NE, 0) == SIZE_MAX);                                  \
    CHECK(shmem_##NAME##_test_some(words, N, indices, status, SHMEM_CMP_NE, 0) == 0);                               \
    CHECK(shmem_##NAME##_test_all(words, N, status, SHMEM_CMP_NE, 0) == 0);                                         \
    CHECK(shmem_##NAME##_test_all_vector(words, N, status, SHMEM_CMP_EQ, wanted) == 0);                             \
    CHECK(shmem_##NAME##_test_any_vector(words, N, status, SHMEM_CMP_EQ, wanted) == SIZE_MAX);                      \
    CHECK(shmem_##NAME##_test_some_vector(words, N, indices, status, SHMEM_CMP_EQ, wanted) == 0);                   \
    CHECK(shmem_##NAME##_wait_until_any(words, N, none, SHMEM_CMP_NE, 0) == SIZE_MAX);                              \
    CHECK(shmem_##NAME##_wait_until_some(words, N, indices, none, SHMEM_CMP_NE, 0) == 0);                           \
    CHECK(shmem_##NAME##_wait_until_any_vector(words, 0, NULL, SHMEM_CMP_NE, wanted) == SIZE_MAX);                  \
    CHECK(shmem_##NAME##_wait_until_some_vector(words, 0, indices, NULL, SHMEM_CMP_NE, wanted) == 0);               \
    shmem_##NAME##_wait_until_all(words, N, none, SHMEM_CMP_NE, 0);                                                 \
    AFTER(shmem_##NAME##_p(&words[1], 2, right))                                                                    \
    CHECK(shmem_##NAME##_wait_until_any(words, N, status, SHMEM_CMP_NE, 0) == 1);                                   \
    CHECK(shmem_##NAME##_wait_until_any_vector(words, N, status, SHMEM_CMP_EQ, wanted) == 1);                       \
    CHECK(shmem_##NAME##_wait_until_some(words, N, indices, status, SHMEM_CMP_NE, 0) == 1 && indices[0] == 1);      \
    CHECK(shmem_##NAME##_wait_until_some_vector(words, N, indices, status, SHMEM_CMP_EQ, wanted) == 1);             \
    AFTER(shmem_##NAME##_p(&words[4], 5, right))                                                                    \
    shmem_##NAME##_wait_until(&words[4], SHMEM_CMP_EQ, 5);                                                          \
    CHECK(shmem_##NAME##_test_some(words, N, indices, NULL, SHMEM_CMP_NE, 0) == 2 && indices[0] + indices[1] == 5); \
    CHECK(shmem_##NAME##_test_some_vector(words, N, indices, status, SHMEM_CMP_GE, wanted) == 2);                   \
    const size_t any = shmem_##NAME##_test_any(words, N, status, SHMEM_CMP_GT, 1);                                  \
    CHECK(any == 1 || any == 4);                                                                                    \
    const size_t other = shmem_##NAME##_test_any_vector(words, N, status, SHMEM_CMP_EQ, wanted);                    \
    CHECK(other == 1 || other == 4);                                                                                \
    AFTER(shmem_##NAME##_p(&words[0], 1, right))                                                                    \
    shmem_##NAME##_p(&words[3], 4, right);                                                                          \
    shmem_##NAME##_wait_until_all(words, N, status, SHMEM_CMP_NE, 0);                                               \
    shmem_##NAME##_wait_until_all_vector(words, N, status, SHMEM_CMP_EQ, wanted);                                   \
    CHECK(shmem_##NAME##_test_all(words, N, status, SHMEM_CMP_GE, 1) == 1);                                         \
    CHECK(shmem_##NAME##_test_all_vector(words, N, status, SHMEM_CMP_EQ, wanted) == 1);                             \
    CHECK(shmem_##NAME##_test_all(words, N, NULL, SHMEM_CMP_GE, 1) == 0);                                           \
    shmem_barrier_all();                                                                                            \
  }

FOR_WAIT(TEST_WAIT)

#define TEST_OLD(NAME, TYPE)                 \
  static void test_old_##NAME(void) {        \
    static TYPE word;                        \
    AFTER(shmem_##NAME##_p(&word, 3, right)) \
    shmem_##NAME##_wait(&word, 0);           \
    CHECK(word == 3);                        \
  }

FOR_WAIT_OLD(TEST_OLD)

/* Words that soon change back: each wait gives what it has seen. The PEs of odd numbers write to the ones before them.
 */
static void words_that_change_back(void) {
  enum { TIMES = 200 };
  static long words[N], over;
  static uint64_t signal;
  size_t indices[N];
  shmem_barrier_all();
  if (me % 2 == 0 && me + 1 < n) {
    for (int i = 0; i < TIMES; ++i) {
      const size_t some = shmem_long_wait_until_some(words, N, indices, NULL, SHMEM_CMP_EQ, 1);
      CHECK(some >= 1 && some <= N && indices[0] < N);
      CHECK(shmem_long_wait_until_any(words, N, NULL, SHMEM_CMP_EQ, 1) < N);
      shmem_long_wait_until(&words[1], SHMEM_CMP_EQ, 1);
      CHECK(shmem_signal_wait_until(&signal, SHMEM_CMP_EQ, 1) == 1);
    }
    shmem_long_p(&over, 1, me + 1);
  } else if (me % 2 == 1) {
    for (int i = 0; shmem_long_test(&over, SHMEM_CMP_EQ, 0); ++i) {
      const int at = i / 2 % N;
      shmem_long_p(&words[at], i % 2 == 0, me - 1);
      if (at == 0) shmem_uint64_p(&signal, i % 2 == 0, me - 1);
      shmem_quiet();
    }
  }
  shmem_barrier_all();
}

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  right = (me + 1) % n;
#define RUN(NAME, TYPE) test_wait_##NAME();
#define RUN_OLD(NAME, TYPE) test_old_##NAME();
  FOR_WAIT(RUN)
  FOR_WAIT_OLD(RUN_OLD)
  words_that_change_back();
  shmem_finalize();
  return 0;
}
