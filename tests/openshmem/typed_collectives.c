/* Collectives: each typed function over all PEs, and each of an active set over those of odd number. */
#include "check.h"
#include "sets.h"

enum { N = 7, MOST = 16 };

static int me, n, turn;

#define FRESH(TYPE, elements)                                                                 \
  ++turn;                                                                                     \
  shmem_barrier_all();                                                                        \
  for (int i = 0; i < (elements); ++i) dest[i] = 0, source[i] = (TYPE)number_of(turn, me, i); \
  shmem_barrier_all();

#define EACH(elements, holds) \
  for (int i = 0; i < (elements); ++i) CHECK(holds)

#define TEST_MOVES(NAME, TYPE)                                                            \
  static void test_moves_##NAME(void) {                                                   \
    static TYPE dest[2 * N * MOST], source[2 * N * MOST];                                 \
    const int root = turn % n;                                                            \
    FRESH(TYPE, N)                                                                        \
    CHECK(shmem_##NAME##_broadcast(SHMEM_TEAM_WORLD, dest, source, N, root) == 0);        \
    EACH(N, dest[i] == (TYPE)number_of(turn, root, i));                                   \
    FRESH(TYPE, N * n)                                                                    \
    CHECK(shmem_##NAME##_fcollect(SHMEM_TEAM_WORLD, dest, source, N) == 0);               \
    EACH(N * n, dest[i] == (TYPE)number_of(turn, i / N, i % N));                          \
    FRESH(TYPE, N * n)                                                                    \
    CHECK(shmem_##NAME##_collect(SHMEM_TEAM_WORLD, dest, source, (size_t)(me % 3)) == 0); \
    for (int pe = 0, at = 0; pe < n; ++pe)                                                \
      for (int i = 0; i < pe % 3; ++i) CHECK(dest[at++] == (TYPE)number_of(turn, pe, i)); \
    FRESH(TYPE, N * n)                                                                    \
    CHECK(shmem_##NAME##_alltoall(SHMEM_TEAM_WORLD, dest, source, N) == 0);               \
    EACH(N * n, dest[i] == (TYPE)number_of(turn, i / N, me * N + i % N));                 \
    FRESH(TYPE, 2 * N * n)                                                                \
    CHECK(shmem_##NAME##_alltoalls(SHMEM_TEAM_WORLD, dest, source, 1, 2, N) == 0);        \
    EACH(N * n, dest[i] == (TYPE)number_of(turn, i / N, 2 * (me * N + i % N)));           \
  }

FOR_RMA(TEST_MOVES)

static void test_bytes(void) {
  static char dest[2 * N * MOST], source[2 * N * MOST];
  FRESH(char, N)
  CHECK(shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, N, n - 1) == 0);
  EACH(N, dest[i] == (char)number_of(turn, n - 1, i));
  FRESH(char, N* n)
  CHECK(shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, N) == 0);
  EACH(N * n, dest[i] == (char)number_of(turn, i / N, i % N));
  FRESH(char, N* n)
  CHECK(shmem_collectmem(SHMEM_TEAM_WORLD, dest, source, N) == 0);
  EACH(N * n, dest[i] == (char)number_of(turn, i / N, i % N));
  FRESH(char, N* n)
  CHECK(shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, N) == 0);
  EACH(N * n, dest[i] == (char)number_of(turn, i / N, me * N + i % N));
  FRESH(char, 2 * N * n)
  CHECK(shmem_alltoallsmem(SHMEM_TEAM_WORLD, dest, source, 2, 1, N) == 0);
  EACH(2 * N * n, dest[i] == (char)(i % 2 == 0 ? number_of(turn, i / 2 / N, me * N + i / 2 % N) : 0));
}

/* The same in order of the PEs first, first + step, ... */
#define FOLD(TYPE, first, step, last, i, combine)             \
  TYPE a = (TYPE)number_of(turn, first, i);                   \
  for (int pe = (first) + (step); pe <= (last); pe += step) { \
    const TYPE b = (TYPE)number_of(turn, pe, i);              \
    a = (TYPE)(combine);                                      \
  }

#define TEST_REDUCE(NAME, TYPE, OP, combine)                                       \
  static void test_##OP##_##NAME(void) {                                           \
    static TYPE dest[N], source[N];                                                \
    FRESH(TYPE, N)                                                                 \
    CHECK(shmem_##NAME##_##OP##_reduce(SHMEM_TEAM_WORLD, dest, source, N) == 0);   \
    for (int i = 0; i < N; ++i) {                                                  \
      FOLD(TYPE, 0, 1, n - 1, i, combine)                                          \
      CHECK(dest[i] == a);                                                         \
    }                                                                              \
    FRESH(TYPE, N)                                                                 \
    CHECK(shmem_##NAME##_##OP##_reduce(SHMEM_TEAM_WORLD, source, source, N) == 0); \
    for (int i = 0; i < N; ++i) {                                                  \
      FOLD(TYPE, 0, 1, n - 1, i, combine)                                          \
      CHECK(source[i] == a);                                                       \
    }                                                                              \
  }

#define TEST_BITS(NAME, TYPE) \
  TEST_REDUCE(NAME, TYPE, and, a& b) TEST_REDUCE(NAME, TYPE, or, a | b) TEST_REDUCE(NAME, TYPE, xor, a ^ b)
#define TEST_ORDER(NAME, TYPE) TEST_REDUCE(NAME, TYPE, max, a < b ? b : a) TEST_REDUCE(NAME, TYPE, min, b < a ? b : a)
#define TEST_SUM(NAME, TYPE) TEST_REDUCE(NAME, TYPE, sum, a + b) TEST_REDUCE(NAME, TYPE, prod, a* b)

FOR_REDUCE_BITS(TEST_BITS)
FOR_REDUCE_ORDER(TEST_ORDER)
FOR_REDUCE_SUM(TEST_SUM)

#define TEST_SCAN(NAME, TYPE)                                                   \
  static void test_scan_##NAME(void) {                                          \
    static TYPE dest[N], source[N];                                             \
    FRESH(TYPE, N)                                                              \
    CHECK(shmem_##NAME##_sum_inscan(SHMEM_TEAM_WORLD, dest, source, N) == 0);   \
    for (int i = 0; i < N; ++i) {                                               \
      FOLD(TYPE, 0, 1, me, i, a + b)                                            \
      CHECK(dest[i] == a);                                                      \
    }                                                                           \
    FRESH(TYPE, N)                                                              \
    CHECK(shmem_##NAME##_sum_exscan(SHMEM_TEAM_WORLD, source, source, N) == 0); \
    for (int i = 0; i < N; ++i) {                                               \
      FOLD(TYPE, 0, 1, me - 1, i, a + b)                                        \
      CHECK(source[i] == (me == 0 ? (TYPE)0 : a));                              \
    }                                                                           \
  }

FOR_REDUCE_SUM(TEST_SCAN)

/* Active sets: of PEs 1, 3, 5, ... one after the other with the same pSync, which need not be set again. */
static long pSync[SHMEM_SYNC_SIZE];
static int odd_size;

#define TEST_TO_ALL(NAME, TYPE, OP, combine)                                         \
  static void test_##OP##_to_all_##NAME(void) {                                      \
    static TYPE dest[N], source[N], pWrk[N / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE]; \
    FRESH(TYPE, N)                                                                   \
    if (me % 2 == 0) return;                                                         \
    shmem_##NAME##_##OP##_to_all(dest, source, N, 1, 1, odd_size, pWrk, pSync);      \
    for (int i = 0; i < N; ++i) {                                                    \
      FOLD(TYPE, 1, 2, n - 1, i, combine)                                            \
      CHECK(dest[i] == a);                                                           \
    }                                                                                \
  }

#define TEST_BITS_OLD(NAME, TYPE) \
  TEST_TO_ALL(NAME, TYPE, and, a& b) TEST_TO_ALL(NAME, TYPE, or, a | b) TEST_TO_ALL(NAME, TYPE, xor, a ^ b)
#define TEST_ORDER_OLD(NAME, TYPE) \
  TEST_TO_ALL(NAME, TYPE, max, a < b ? b : a) TEST_TO_ALL(NAME, TYPE, min, b < a ? b : a)
#define TEST_SUM_OLD(NAME, TYPE) TEST_TO_ALL(NAME, TYPE, sum, a + b) TEST_TO_ALL(NAME, TYPE, prod, a* b)

FOR_TO_ALL_BITS(TEST_BITS_OLD)
FOR_TO_ALL_ORDER(TEST_ORDER_OLD)
FOR_TO_ALL_SUM(TEST_SUM_OLD)

#define TEST_WORDS(BITS, IGNORED)                                                                             \
  static void test_words_##BITS(void) {                                                                       \
    static int##BITS##_t dest[2 * N * MOST], source[2 * N * MOST];                                            \
    const int before = me / 2; /* of odd number */                                                            \
    FRESH(int##BITS##_t, N)                                                                                   \
    if (me % 2 == 1) shmem_broadcast##BITS(dest, source, N, 0, 1, 1, odd_size, pSync);                        \
    EACH(N, dest[i] == (me % 2 == 1 && me > 1 ? number_of(turn, 1, i) : 0));                                  \
    FRESH(int##BITS##_t, N* n)                                                                                \
    if (me % 2 == 1) {                                                                                        \
      shmem_fcollect##BITS(dest, source, N, 1, 1, odd_size, pSync);                                           \
      EACH(N * odd_size, dest[i] == number_of(turn, 2 * (i / N) + 1, i % N));                                 \
    }                                                                                                         \
    FRESH(int##BITS##_t, N* n)                                                                                \
    if (me % 2 == 1) {                                                                                        \
      shmem_collect##BITS(dest, source, me == 1 ? 2 : N, 1, 1, odd_size, pSync);                              \
      EACH(2 + N * (odd_size - 1),                                                                            \
           dest[i] == (i < 2 ? number_of(turn, 1, i) : number_of(turn, 2 * ((i - 2) / N) + 3, (i - 2) % N))); \
    }                                                                                                         \
    FRESH(int##BITS##_t, N* n)                                                                                \
    if (me % 2 == 1) {                                                                                        \
      shmem_alltoall##BITS(dest, source, N, 1, 1, odd_size, pSync);                                           \
      EACH(N * odd_size, dest[i] == number_of(turn, 2 * (i / N) + 1, before * N + i % N));                    \
    }                                                                                                         \
    FRESH(int##BITS##_t, 2 * N * n)                                                                           \
    if (me % 2 == 1) {                                                                                        \
      shmem_alltoalls##BITS(dest, source, 1, 2, N, 1, 1, odd_size, pSync);                                    \
      EACH(N * odd_size, dest[i] == number_of(turn, 2 * (i / N) + 1, 2 * (before * N + i % N)));              \
    }                                                                                                         \
  }

FOR_WORDS(TEST_WORDS)

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  odd_size = n / 2;
  for (int i = 0; i < SHMEM_SYNC_SIZE; ++i) pSync[i] = SHMEM_SYNC_VALUE;
#define RUN_MOVES(NAME, TYPE) test_moves_##NAME();
#define RUN_BITS(NAME, TYPE) test_and_##NAME(), test_or_##NAME(), test_xor_##NAME();
#define RUN_ORDER(NAME, TYPE) test_max_##NAME(), test_min_##NAME();
#define RUN_SUM(NAME, TYPE) test_sum_##NAME(), test_prod_##NAME(), test_scan_##NAME();
  FOR_RMA(RUN_MOVES)
  test_bytes();
  FOR_REDUCE_BITS(RUN_BITS)
  FOR_REDUCE_ORDER(RUN_ORDER)
  FOR_REDUCE_SUM(RUN_SUM)
#define RUN_BITS_OLD(NAME, TYPE) test_and_to_all_##NAME(), test_or_to_all_##NAME(), test_xor_to_all_##NAME();
#define RUN_ORDER_OLD(NAME, TYPE) test_max_to_all_##NAME(), test_min_to_all_##NAME();
#define RUN_SUM_OLD(NAME, TYPE) test_sum_to_all_##NAME(), test_prod_to_all_##NAME();
#define RUN_WORDS(BITS, IGNORED) test_words_##BITS();
  FOR_TO_ALL_BITS(RUN_BITS_OLD)
  FOR_TO_ALL_ORDER(RUN_ORDER_OLD)
  FOR_TO_ALL_SUM(RUN_SUM_OLD)
  FOR_WORDS(RUN_WORDS)
  for (int i = 0; i < 20 && me % 2 == 1; ++i) {
    shmem_barrier(1, 1, odd_size, pSync);
    (shmem_sync)(1, 1, odd_size, pSync);
    CHECK(pSync[0] == SHMEM_SYNC_VALUE);
  }
  shmem_finalize();
  return 0;
}
