/* Atomics: each typed function, by all PEs on a word of each PE in turn. */
#include "check.h"
#include "sets.h"

static int me, n;
static shmem_ctx_t ctx;

/* All PEs do something to the word of PE `home`; it has `start` before, and everybody sees it afterwards. */
#define WITH_WORD(TYPE, start) \
  shmem_barrier_all();         \
  word = (TYPE)(start);        \
  shmem_barrier_all();

/* What the PEs have fetched, one number each, is what `word` went through. */
#define ALL_DIFFERENT(NAME, TYPE, got, home, step)                                  \
  shmem_##NAME##_p(&fetched[me], got, home);                                        \
  shmem_barrier_all();                                                              \
  if (me == home) {                                                                 \
    int seen[MOST] = {0};                                                           \
    for (int i = 0; i < n; ++i) ++seen[(int)((fetched[i] - (TYPE)3) / (TYPE)step)]; \
    for (int i = 0; i < n; ++i) CHECK(seen[i] == 1);                                \
    CHECK(word == (TYPE)(3 + n * step));                                            \
  }

enum { MOST = 64 };

#define TEST_AMO(NAME, TYPE)                                                                                         \
  static void test_amo_##NAME(void) {                                                                                \
    static TYPE word, fetched[MOST];                                                                                 \
    TYPE got = 0;                                                                                                    \
    for (int home = 0; home < n; ++home) {                                                                           \
      WITH_WORD(TYPE, 3)                                                                                             \
      got = shmem_##NAME##_atomic_fetch_add(&word, 4, home);                                                         \
      ALL_DIFFERENT(NAME, TYPE, got, home, 4)                                                                        \
      WITH_WORD(TYPE, 3)                                                                                             \
      got = shmem_ctx_##NAME##_atomic_fetch_add(ctx, &word, 4, home);                                                \
      ALL_DIFFERENT(NAME, TYPE, got, home, 4)                                                                        \
      WITH_WORD(TYPE, 3)                                                                                             \
      got = shmem_##NAME##_atomic_fetch_inc(&word, home);                                                            \
      ALL_DIFFERENT(NAME, TYPE, got, home, 1)                                                                        \
      WITH_WORD(TYPE, 3)                                                                                             \
      got = shmem_ctx_##NAME##_atomic_fetch_inc(ctx, &word, home);                                                   \
      ALL_DIFFERENT(NAME, TYPE, got, home, 1)                                                                        \
      WITH_WORD(TYPE, 3)                                                                                             \
      shmem_##NAME##_atomic_fetch_add_nbi(&got, &word, 4, home);                                                     \
      shmem_quiet();                                                                                                 \
      ALL_DIFFERENT(NAME, TYPE, got, home, 4)                                                                        \
      WITH_WORD(TYPE, 3)                                                                                             \
      shmem_ctx_##NAME##_atomic_fetch_add_nbi(ctx, &got, &word, 4, home);                                            \
      shmem_ctx_quiet(ctx);                                                                                          \
      ALL_DIFFERENT(NAME, TYPE, got, home, 4)                                                                        \
      WITH_WORD(TYPE, 3)                                                                                             \
      shmem_##NAME##_atomic_fetch_inc_nbi(&got, &word, home);                                                        \
      shmem_quiet();                                                                                                 \
      ALL_DIFFERENT(NAME, TYPE, got, home, 1)                                                                        \
      WITH_WORD(TYPE, 3)                                                                                             \
      shmem_ctx_##NAME##_atomic_fetch_inc_nbi(ctx, &got, &word, home);                                               \
      shmem_ctx_quiet(ctx);                                                                                          \
      ALL_DIFFERENT(NAME, TYPE, got, home, 1)                                                                        \
      WITH_WORD(TYPE, 3)                                                                                             \
      shmem_##NAME##_atomic_add(&word, 4, home);                                                                     \
      shmem_ctx_##NAME##_atomic_add(ctx, &word, 4, home);                                                            \
      shmem_##NAME##_atomic_inc(&word, home);                                                                        \
      shmem_ctx_##NAME##_atomic_inc(ctx, &word, home);                                                               \
      shmem_barrier_all();                                                                                           \
      if (me == home) CHECK(word == (TYPE)(3 + 10 * n));                                                             \
      /* Each waits for its turn: the word goes from PE to PE. */                                                    \
      WITH_WORD(TYPE, 0)                                                                                             \
      while (shmem_##NAME##_atomic_compare_swap(&word, (TYPE)(4 * me), (TYPE)(4 * me + 1), home) != (TYPE)(4 * me)); \
      CHECK(shmem_ctx_##NAME##_atomic_compare_swap(ctx, &word, (TYPE)(4 * me + 1), (TYPE)(4 * me + 2), home) ==      \
            (TYPE)(4 * me + 1));                                                                                     \
      shmem_##NAME##_atomic_compare_swap_nbi(&got, &word, 99, 98, home);                                             \
      shmem_quiet();                                                                                                 \
      CHECK(got == (TYPE)(4 * me + 2));                                                                              \
      shmem_##NAME##_atomic_compare_swap_nbi(&got, &word, (TYPE)(4 * me + 2), (TYPE)(4 * me + 3), home);             \
      shmem_quiet();                                                                                                 \
      shmem_ctx_##NAME##_atomic_compare_swap_nbi(ctx, &got, &word, (TYPE)(4 * me + 3), (TYPE)(4 * me + 4), home);    \
      shmem_ctx_quiet(ctx);                                                                                          \
      CHECK(got == (TYPE)(4 * me + 3));                                                                              \
    }                                                                                                                \
  }

FOR_AMO(TEST_AMO)

/* A token, handed around by swap: whoever has it gives it on. */
#define TEST_EXTENDED(NAME, TYPE)                                                   \
  static void test_extended_##NAME(void) {                                          \
    static TYPE word;                                                               \
    TYPE got = 0;                                                                   \
    const int right = (me + 1) % n;                                                 \
    WITH_WORD(TYPE, 7 + me)                                                         \
    CHECK(shmem_##NAME##_atomic_fetch(&word, right) == (TYPE)(7 + right));          \
    CHECK(shmem_ctx_##NAME##_atomic_fetch(ctx, &word, right) == (TYPE)(7 + right)); \
    shmem_##NAME##_atomic_fetch_nbi(&got, &word, right);                            \
    shmem_quiet();                                                                  \
    CHECK(got == (TYPE)(7 + right));                                                \
    shmem_ctx_##NAME##_atomic_fetch_nbi(ctx, &got, &word, right);                   \
    shmem_ctx_quiet(ctx);                                                           \
    CHECK(got == (TYPE)(7 + right));                                                \
    WITH_WORD(TYPE, 7 + me)                                                         \
    CHECK(shmem_##NAME##_atomic_swap(&word, (TYPE)1, right) == (TYPE)(7 + right));  \
    CHECK(shmem_ctx_##NAME##_atomic_swap(ctx, &word, (TYPE)2, right) == (TYPE)1);   \
    shmem_##NAME##_atomic_swap_nbi(&got, &word, (TYPE)3, right);                    \
    shmem_quiet();                                                                  \
    CHECK(got == (TYPE)2);                                                          \
    shmem_ctx_##NAME##_atomic_swap_nbi(ctx, &got, &word, (TYPE)4, right);           \
    shmem_ctx_quiet(ctx);                                                           \
    CHECK(got == (TYPE)3);                                                          \
    shmem_##NAME##_atomic_set(&word, (TYPE)(40 + me), right);                       \
    shmem_barrier_all();                                                            \
    CHECK(word == (TYPE)(40 + (me + n - 1) % n));                                   \
    shmem_barrier_all();                                                            \
    shmem_ctx_##NAME##_atomic_set(ctx, &word, (TYPE)(50 + me), right);              \
    shmem_barrier_all();                                                            \
    CHECK(word == (TYPE)(50 + (me + n - 1) % n));                                   \
  }

FOR_AMO_EXTENDED(TEST_EXTENDED)

/* Each PE has a bit of its own in the word of PE 0. */
#define BITWISE(NAME, TYPE, OP, start, wanted)                                   \
  WITH_WORD(TYPE, start)                                                         \
  shmem_##NAME##_atomic_##OP(&word, bit(#OP, 0), 0);                             \
  shmem_ctx_##NAME##_atomic_##OP(ctx, &word, bit(#OP, 1), 0);                    \
  got = shmem_##NAME##_atomic_fetch_##OP(&word, bit(#OP, 2), 0);                 \
  CHECK((got >> (5 * me + 2) & 1) == ((TYPE)(start) >> (5 * me + 2) & 1));       \
  got = shmem_ctx_##NAME##_atomic_fetch_##OP(ctx, &word, bit(#OP, 2), 0);        \
  CHECK((got >> (5 * me + 2) & 1) == (wanted));                                  \
  if (strcmp(#OP, "xor") == 0) shmem_##NAME##_atomic_xor(&word, bit(#OP, 2), 0); \
  shmem_##NAME##_atomic_fetch_##OP##_nbi(&got, &word, bit(#OP, 3), 0);           \
  shmem_ctx_##NAME##_atomic_fetch_##OP##_nbi(ctx, &got, &word, bit(#OP, 4), 0);  \
  shmem_quiet();                                                                 \
  shmem_barrier_all();                                                           \
  for (int i = 0; me == 0 && i < 5 * n; ++i) CHECK((word >> i & 1) == (wanted));

static int64_t bit(const char* op, int which) {
  const int64_t one = (int64_t)1 << (5 * me + which);
  return strcmp(op, "and") == 0 ? ~one : one;
}

#define TEST_BITWISE(NAME, TYPE)          \
  static void test_bitwise_##NAME(void) { \
    static TYPE word;                     \
    TYPE got = 0;                         \
    BITWISE(NAME, TYPE, or, 0, 1)         \
    BITWISE(NAME, TYPE, and, -1, 0)       \
    BITWISE(NAME, TYPE, xor, 0, 1)        \
  }

FOR_AMO_BITWISE(TEST_BITWISE)

/* The names of before. */
#define TEST_OLD(NAME, TYPE)                                  \
  static void test_old_##NAME(void) {                         \
    static TYPE word;                                         \
    WITH_WORD(TYPE, 5)                                        \
    (void)shmem_##NAME##_fadd(&word, 2, 0);                   \
    (void)shmem_##NAME##_finc(&word, 0);                      \
    shmem_##NAME##_add(&word, 2, 0);                          \
    shmem_##NAME##_inc(&word, 0);                             \
    shmem_barrier_all();                                      \
    if (me == 0) CHECK(word == 5 + 6 * n);                    \
    WITH_WORD(TYPE, 0)                                        \
    while (shmem_##NAME##_cswap(&word, me, me + 1, 0) != me); \
    shmem_barrier_all();                                      \
    if (me == 0) CHECK(word == n);                            \
  }

FOR_AMO_OLD(TEST_OLD)

#define TEST_EXTENDED_OLD(NAME, TYPE)                           \
  static void test_extended_old_##NAME(void) {                  \
    static TYPE word;                                           \
    const int right = (me + 1) % n;                             \
    WITH_WORD(TYPE, me)                                         \
    CHECK(shmem_##NAME##_fetch(&word, right) == (TYPE)right);   \
    WITH_WORD(TYPE, me)                                         \
    CHECK(shmem_##NAME##_swap(&word, 8, right) == (TYPE)right); \
    shmem_##NAME##_set(&word, 9, right);                        \
    shmem_barrier_all();                                        \
    CHECK(word == (TYPE)9);                                     \
  }

FOR_AMO_EXTENDED_OLD(TEST_EXTENDED_OLD)

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  CHECK(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0);
#define RUN_AMO(NAME, TYPE) test_amo_##NAME();
#define RUN_EXTENDED(NAME, TYPE) test_extended_##NAME();
#define RUN_BITWISE(NAME, TYPE) test_bitwise_##NAME();
#define RUN_OLD(NAME, TYPE) test_old_##NAME();
#define RUN_EXTENDED_OLD(NAME, TYPE) test_extended_old_##NAME();
  FOR_AMO(RUN_AMO)
  FOR_AMO_EXTENDED(RUN_EXTENDED)
  FOR_AMO_BITWISE(RUN_BITWISE)
  FOR_AMO_OLD(RUN_OLD)
  FOR_AMO_EXTENDED_OLD(RUN_EXTENDED_OLD)
  shmem_ctx_destroy(ctx);
  shmem_finalize();
  return 0;
}
