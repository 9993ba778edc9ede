/* The names that choose by type, in C11 and in C++, with a context and without. */
#include "check.h"

#ifdef __cplusplus
#include <complex>
#endif

enum { N = 4 };

static int me, n, right, left;
static shmem_ctx_t ctx;
static uint64_t flag;

#define ROUND(TYPE)                                                            \
  shmem_barrier_all();                                                         \
  for (int i = 0; i < N; ++i) dest[i] = 0, source[i] = (TYPE)(me * N + i + 1); \
  shmem_barrier_all();
#define CAME(TYPE, from) \
  shmem_barrier_all();   \
  for (int i = 0; i < N; ++i) CHECK(dest[i] == (TYPE)((from) * N + i + 1));

#define TEST_ACCESS(NAME, TYPE)                                                          \
  static void access_##NAME(void) {                                                      \
    static TYPE dest[N], source[N];                                                      \
    const TYPE* readable = source;                                                       \
    ROUND(TYPE) shmem_put(dest, readable, N, right);                                     \
    CAME(TYPE, left)                                                                     \
    ROUND(TYPE) shmem_put(ctx, dest, source, N, right);                                  \
    CAME(TYPE, left)                                                                     \
    ROUND(TYPE) shmem_put_nbi(dest, source, N, right);                                   \
    CAME(TYPE, left)                                                                     \
    ROUND(TYPE) shmem_get(dest, readable, N, right);                                     \
    CAME(TYPE, right)                                                                    \
    ROUND(TYPE) shmem_get_nbi(ctx, dest, source, N, right);                              \
    CAME(TYPE, right)                                                                    \
    ROUND(TYPE) shmem_iput(dest, source, 1, 1, N, right);                                \
    CAME(TYPE, left)                                                                     \
    ROUND(TYPE) shmem_iget(ctx, dest, source, 1, 1, N, right);                           \
    CAME(TYPE, right)                                                                    \
    ROUND(TYPE) shmem_put_signal(dest, source, N, &flag, 1, SHMEM_SIGNAL_ADD, right);    \
    CAME(TYPE, left)                                                                     \
    ROUND(TYPE) for (int i = 0; i < N; ++i) shmem_p(dest + i, source[i], right);         \
    CAME(TYPE, left)                                                                     \
    ROUND(TYPE) for (int i = 0; i < N; ++i) dest[i] = shmem_g(ctx, readable + i, right); \
    CAME(TYPE, right)                                                                    \
    ROUND(TYPE) CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, dest, source, N, n - 1) == 0);   \
    CAME(TYPE, n - 1)                                                                    \
    ROUND(TYPE) CHECK(shmem_max_reduce(SHMEM_TEAM_WORLD, dest, source, N) == 0);         \
    CAME(TYPE, n - 1)                                                                    \
    ROUND(TYPE) CHECK(shmem_sum_inscan(SHMEM_TEAM_WORLD, dest, source, N) == 0);         \
    CHECK(me > 0 || dest[1] == 2);                                                       \
  }

#define FOR_SOME(X)                                                                                                    \
  X(int, int)                                                                                                          \
  X(long, long) X(ulong, unsigned long) X(float, float) X(double, double) X(schar, signed char) X(longlong, long long) \
      X(size, size_t) X(longdouble, long double)
FOR_SOME(TEST_ACCESS)

#define TEST_WORDS(NAME, TYPE)                                             \
  static void words_##NAME(void) {                                         \
    static TYPE word;                                                      \
    word = 0;                                                              \
    shmem_barrier_all();                                                   \
    shmem_atomic_add(&word, (TYPE)2, right);                               \
    shmem_atomic_inc(ctx, &word, right);                                   \
    shmem_wait_until(&word, SHMEM_CMP_EQ, (TYPE)3);                        \
    CHECK(shmem_test(&word, SHMEM_CMP_GE, (TYPE)3) == 1);                  \
    shmem_barrier_all();                                                   \
    CHECK(shmem_atomic_fetch((const TYPE*)&word, right) == 3);             \
    CHECK(shmem_atomic_fetch_add(ctx, &word, (TYPE)4, right) == 3);        \
    CHECK(shmem_atomic_compare_swap(&word, (TYPE)7, (TYPE)1, right) == 7); \
    CHECK(shmem_atomic_swap(&word, (TYPE)9, right) == 1);                  \
    shmem_barrier_all();                                                   \
  }
TEST_WORDS(long, long)
TEST_WORDS(uint64, uint64_t)
TEST_WORDS(int, int)
TEST_WORDS(uint32, uint32_t)

static void old_names(void) {
  static long word;
  static double real;
  shmem_add(&word, 5, right);
  shmem_barrier_all();
  CHECK(shmem_fetch(&word, right) == 5);
  shmem_barrier_all();
  CHECK(shmem_finc(&word, right) == 5 && shmem_fadd(&word, 2, right) == 6 && shmem_cswap(&word, 8, 1, right) == 8);
  shmem_inc(&word, right);
  shmem_set(&real, 1.5, right);
  shmem_wait(&word, 0);
  shmem_barrier_all();
  CHECK(word == 2 && shmem_swap(&real, 2.5, right) == 1.5);
}

int main(void) {
  static shmem_complexd_t sums[2], parts[2];
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  right = (me + 1) % n;
  left = (me + n - 1) % n;
  CHECK(shmem_ctx_create(0, &ctx) == 0);
#define RUN(NAME, TYPE) access_##NAME();
  FOR_SOME(RUN)
  words_long();
  words_uint64();
  words_int();
  words_uint32();
  old_names();
  parts[0] = 1;
  CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, sums, parts, 2) == 0 && sums[0] == n);
#ifdef __cplusplus
  static std::complex<double> products[2], factors[2] = {{0, 1}, {1, 0}};
  CHECK(shmem_prod_reduce(SHMEM_TEAM_WORLD, products, factors, 2) == 0);
  CHECK(products[1] == 1.0 && std::abs(products[0]) == 1.0);
#endif
  CHECK(shmem_sync(SHMEM_TEAM_WORLD) == 0);
  shmem_signal_set(&flag, 4, right);
  shmem_signal_add(ctx, &flag, 1, right);
  shmem_finalize();
  return 0;
}
