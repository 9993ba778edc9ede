/* Puts, gets, strides, signals and contexts: each typed and sized function, by PE to its right neighbour and back. */
#include "check.h"
#include "sets.h"

enum { N = 12, HALF = N / 2 };

static int me, n, right, left, turn;
static uint64_t flag, flags_seen;
static shmem_ctx_t ctx;

static void await_flag(void) {
  ++flags_seen;
  CHECK(shmem_signal_wait_until(&flag, SHMEM_CMP_GE, flags_seen) == flags_seen);
}

/* A round: fresh numbers to send, nothing received, and all have come so far. */
#define BEGIN                                                                  \
  ++turn;                                                                      \
  shmem_barrier_all();                                                         \
  for (int i = 0; i < N; ++i) dest[i] = 0, source[i] = number_of(turn, me, i); \
  shmem_barrier_all();
#define END(holds)     \
  shmem_barrier_all(); \
  for (int i = 0; i < N; ++i) CHECK(holds)

/* Every way to move N elements from `source` to `dest` of another PE, and what `dest` has to be afterwards. */
#define TEST_TYPE(NAME, TYPE)                                                                                  \
  static void test_##NAME(void) {                                                                              \
    static TYPE dest[N], source[N], other[N];                                                                  \
    const size_t half = HALF;                                                                                  \
    BEGIN shmem_##NAME##_put(dest, source, N, right);                                                          \
    END(dest[i] == (TYPE)number_of(turn, left, i));                                                            \
    BEGIN shmem_##NAME##_put_nbi(dest, source, N, right);                                                      \
    END(dest[i] == (TYPE)number_of(turn, left, i));                                                            \
    BEGIN shmem_ctx_##NAME##_put(ctx, dest, source, N, right);                                                 \
    END(dest[i] == (TYPE)number_of(turn, left, i));                                                            \
    BEGIN shmem_ctx_##NAME##_put_nbi(ctx, dest, source, N, right);                                             \
    END(dest[i] == (TYPE)number_of(turn, left, i));                                                            \
    BEGIN shmem_##NAME##_iput(dest, source, 2, 1, half, right);                                                \
    END(dest[i] == (TYPE)(i % 2 == 0 ? number_of(turn, left, i / 2) : 0));                                     \
    BEGIN shmem_ctx_##NAME##_iput(ctx, dest, source, 1, 2, half, right);                                       \
    END(dest[i] == (TYPE)(i < HALF ? number_of(turn, left, 2 * i) : 0));                                       \
    BEGIN shmem_##NAME##_ibput(dest, source, 4, 2, 2, 3, right);                                               \
    END(dest[i] == (TYPE)(i % 4 < 2 ? number_of(turn, left, i / 4 * 2 + i % 4) : 0));                          \
    BEGIN shmem_ctx_##NAME##_ibput(ctx, dest, source, 2, 4, 2, 3, right);                                      \
    END(dest[i] == (TYPE)(i < HALF ? number_of(turn, left, i / 2 * 4 + i % 2) : 0));                           \
    BEGIN shmem_##NAME##_p(dest + 3, source[1], right);                                                        \
    shmem_ctx_##NAME##_p(ctx, dest + 4, source[2], right);                                                     \
    END(dest[i] == (TYPE)(i == 3 || i == 4 ? number_of(turn, left, i - 2) : 0));                               \
    BEGIN shmem_##NAME##_put_signal(dest, source, N, &flag, 1, SHMEM_SIGNAL_ADD, right);                       \
    await_flag();                                                                                              \
    END(dest[i] == (TYPE)number_of(turn, left, i));                                                            \
    BEGIN shmem_##NAME##_put_signal_nbi(dest, source, N, &flag, flags_seen + 1, SHMEM_SIGNAL_SET, right);      \
    await_flag();                                                                                              \
    END(dest[i] == (TYPE)number_of(turn, left, i));                                                            \
    BEGIN shmem_ctx_##NAME##_put_signal(ctx, dest, source, N, &flag, flags_seen + 1, SHMEM_SIGNAL_SET, right); \
    await_flag();                                                                                              \
    END(dest[i] == (TYPE)number_of(turn, left, i));                                                            \
    BEGIN shmem_ctx_##NAME##_put_signal_nbi(ctx, dest, source, N, &flag, 1, SHMEM_SIGNAL_ADD, right);          \
    await_flag();                                                                                              \
    END(dest[i] == (TYPE)number_of(turn, left, i));                                                            \
    BEGIN shmem_##NAME##_get(other, source, N, left);                                                          \
    END(other[i] == (TYPE)number_of(turn, left, i));                                                           \
    BEGIN shmem_##NAME##_get_nbi(other, source, N, left);                                                      \
    shmem_quiet();                                                                                             \
    END(other[i] == (TYPE)number_of(turn, left, i));                                                           \
    BEGIN shmem_ctx_##NAME##_get(ctx, other, source, N, left);                                                 \
    END(other[i] == (TYPE)number_of(turn, left, i));                                                           \
    BEGIN shmem_ctx_##NAME##_get_nbi(ctx, other, source, N, left);                                             \
    shmem_ctx_quiet(ctx);                                                                                      \
    END(other[i] == (TYPE)number_of(turn, left, i));                                                           \
    BEGIN shmem_##NAME##_iget(other, source, 1, 2, half, left);                                                \
    END(i >= HALF || other[i] == (TYPE)number_of(turn, left, 2 * i));                                          \
    BEGIN shmem_ctx_##NAME##_iget(ctx, other, source, 2, 1, half, left);                                       \
    END(i % 2 == 1 || other[i] == (TYPE)number_of(turn, left, i / 2));                                         \
    BEGIN shmem_##NAME##_ibget(other, source, 2, 4, 2, 3, left);                                               \
    END(i >= HALF || other[i] == (TYPE)number_of(turn, left, i / 2 * 4 + i % 2));                              \
    BEGIN shmem_ctx_##NAME##_ibget(ctx, other, source, 4, 2, 2, 3, left);                                      \
    END(i % 4 >= 2 || other[i] == (TYPE)number_of(turn, left, i / 4 * 2 + i % 4));                             \
    BEGIN CHECK(shmem_##NAME##_g(source + 5, left) == (TYPE)number_of(turn, left, 5));                         \
    CHECK(shmem_ctx_##NAME##_g(ctx, source + 6, left) == (TYPE)number_of(turn, left, 6));                      \
  }

FOR_RMA(TEST_TYPE)

/* The same by size, for elements of so many bytes. */
#define TEST_SIZE(BITS, IGNORED)                                                                                       \
  static void test_##BITS(void) {                                                                                      \
    static char dest[N * 16], source[N * 16], other[N * 16];                                                           \
    enum { B = BITS / 8 };                                                                                             \
    BEGIN_BYTES shmem_put##BITS(dest, source, N, right);                                                               \
    END_BYTES(dest, i < N * B ? number_of(turn, left, i) : 0);                                                         \
    BEGIN_BYTES shmem_put##BITS##_nbi(dest, source, N, right);                                                         \
    END_BYTES(dest, i < N * B ? number_of(turn, left, i) : 0);                                                         \
    BEGIN_BYTES shmem_ctx_put##BITS(ctx, dest, source, N, right);                                                      \
    END_BYTES(dest, i < N * B ? number_of(turn, left, i) : 0);                                                         \
    BEGIN_BYTES shmem_ctx_put##BITS##_nbi(ctx, dest, source, N, right);                                                \
    END_BYTES(dest, i < N * B ? number_of(turn, left, i) : 0);                                                         \
    BEGIN_BYTES shmem_iput##BITS(dest, source, 2, 1, HALF, right);                                                     \
    END_BYTES(dest, i / B % 2 == 0 && i < N * B ? number_of(turn, left, i / B / 2 * B + i % B) : 0);                   \
    BEGIN_BYTES shmem_ctx_iput##BITS(ctx, dest, source, 1, 2, HALF, right);                                            \
    END_BYTES(dest, i < HALF * B ? number_of(turn, left, i / B * 2 * B + i % B) : 0);                                  \
    BEGIN_BYTES shmem_ibput##BITS(dest, source, 4, 2, 2, 3, right);                                                    \
    END_BYTES(dest, i / B % 4 < 2 && i < N * B ? number_of(turn, left, (i / B / 4 * 2 + i / B % 4) * B + i % B) : 0);  \
    BEGIN_BYTES shmem_ctx_ibput##BITS(ctx, dest, source, 2, 4, 2, 3, right);                                           \
    END_BYTES(dest, i < HALF * B ? number_of(turn, left, (i / B / 2 * 4 + i / B % 2) * B + i % B) : 0);                \
    BEGIN_BYTES shmem_put##BITS##_signal(dest, source, N, &flag, 1, SHMEM_SIGNAL_ADD, right);                          \
    await_flag();                                                                                                      \
    END_BYTES(dest, i < N * B ? number_of(turn, left, i) : 0);                                                         \
    BEGIN_BYTES shmem_ctx_put##BITS##_signal(ctx, dest, source, N, &flag, 1, SHMEM_SIGNAL_ADD, right);                 \
    await_flag();                                                                                                      \
    END_BYTES(dest, i < N * B ? number_of(turn, left, i) : 0);                                                         \
    BEGIN_BYTES shmem_put##BITS##_signal_nbi(dest, source, N, &flag, 1, SHMEM_SIGNAL_ADD, right);                      \
    await_flag();                                                                                                      \
    END_BYTES(dest, i < N * B ? number_of(turn, left, i) : 0);                                                         \
    BEGIN_BYTES shmem_ctx_put##BITS##_signal_nbi(ctx, dest, source, N, &flag, 1, SHMEM_SIGNAL_ADD, right);             \
    await_flag();                                                                                                      \
    END_BYTES(dest, i < N * B ? number_of(turn, left, i) : 0);                                                         \
    BEGIN_BYTES shmem_get##BITS(other, source, N, left);                                                               \
    END_BYTES(other, i < N * B ? number_of(turn, left, i) : 0);                                                        \
    BEGIN_BYTES shmem_get##BITS##_nbi(other, source, N, left);                                                         \
    END_BYTES(other, i < N * B ? number_of(turn, left, i) : 0);                                                        \
    BEGIN_BYTES shmem_ctx_get##BITS(ctx, other, source, N, left);                                                      \
    END_BYTES(other, i < N * B ? number_of(turn, left, i) : 0);                                                        \
    BEGIN_BYTES shmem_ctx_get##BITS##_nbi(ctx, other, source, N, left);                                                \
    END_BYTES(other, i < N * B ? number_of(turn, left, i) : 0);                                                        \
    BEGIN_BYTES shmem_iget##BITS(other, source, 1, 2, HALF, left);                                                     \
    END_BYTES(other, i < HALF * B ? number_of(turn, left, i / B * 2 * B + i % B) : 0);                                 \
    BEGIN_BYTES shmem_ctx_iget##BITS(ctx, other, source, 2, 1, HALF, left);                                            \
    END_BYTES(other, i / B % 2 == 0 && i < N * B ? number_of(turn, left, i / B / 2 * B + i % B) : 0);                  \
    BEGIN_BYTES shmem_ibget##BITS(other, source, 2, 4, 2, 3, left);                                                    \
    END_BYTES(other, i < HALF * B ? number_of(turn, left, (i / B / 2 * 4 + i / B % 2) * B + i % B) : 0);               \
    BEGIN_BYTES shmem_ctx_ibget##BITS(ctx, other, source, 4, 2, 2, 3, left);                                           \
    END_BYTES(other, i / B % 4 < 2 && i < N * B ? number_of(turn, left, (i / B / 4 * 2 + i / B % 4) * B + i % B) : 0); \
  }

#define BEGIN_BYTES                                                                                  \
  ++turn;                                                                                            \
  shmem_barrier_all();                                                                               \
  for (int i = 0; i < N * 16; ++i) dest[i] = other[i] = 0, source[i] = (char)number_of(turn, me, i); \
  shmem_barrier_all();
#define END_BYTES(array, wanted) \
  shmem_barrier_all();           \
  for (int i = 0; i < N * 16; ++i) CHECK(array[i] == (char)(wanted))

FOR_SIZES(TEST_SIZE)

static void test_mem(void) {
  static char dest[N * 16], source[N * 16], other[N * 16];
  BEGIN_BYTES shmem_putmem(dest, source, 77, right);
  END_BYTES(dest, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_putmem_nbi(dest, source, 77, right);
  END_BYTES(dest, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_ctx_putmem(ctx, dest, source, 77, right);
  END_BYTES(dest, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_ctx_putmem_nbi(ctx, dest, source, 77, right);
  END_BYTES(dest, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_putmem_signal(dest, source, 77, &flag, 1, SHMEM_SIGNAL_ADD, right);
  await_flag();
  END_BYTES(dest, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_ctx_putmem_signal(ctx, dest, source, 77, &flag, 1, SHMEM_SIGNAL_ADD, right);
  await_flag();
  END_BYTES(dest, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_putmem_signal_nbi(dest, source, 77, &flag, 1, SHMEM_SIGNAL_ADD, right);
  await_flag();
  END_BYTES(dest, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_ctx_putmem_signal_nbi(ctx, dest, source, 77, &flag, 1, SHMEM_SIGNAL_ADD, right);
  await_flag();
  END_BYTES(dest, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_getmem(other, source, 77, left);
  END_BYTES(other, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_getmem_nbi(other, source, 77, left);
  END_BYTES(other, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_ctx_getmem(ctx, other, source, 77, left);
  END_BYTES(other, i < 77 ? number_of(turn, left, i) : 0);
  BEGIN_BYTES shmem_ctx_getmem_nbi(ctx, other, source, 77, left);
  END_BYTES(other, i < 77 ? number_of(turn, left, i) : 0);
}

static void test_signals(void) {
  const uint64_t before = shmem_signal_fetch(&flag);
  shmem_barrier_all();
  shmem_signal_add(&flag, 5, right);
  shmem_ctx_signal_add(ctx, &flag, 6, right);
  shmem_barrier_all();
  CHECK(shmem_signal_fetch(&flag) == before + 11);
  shmem_barrier_all();
  shmem_signal_set(&flag, UINT64_MAX, right);
  CHECK(shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, UINT64_MAX) == UINT64_MAX);
  shmem_barrier_all();
  shmem_ctx_signal_set(ctx, &flag, 3, right);
  CHECK(shmem_signal_wait_until(&flag, SHMEM_CMP_LT, 4) == 3);
}

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  right = (me + 1) % n;
  left = (me + n - 1) % n;
  CHECK(shmem_ctx_create(0, &ctx) == 0);
#define RUN(NAME, IGNORED) test_##NAME();
  FOR_RMA(RUN)
  FOR_SIZES(RUN)
  test_mem();
  test_signals();
  shmem_ctx_destroy(ctx);
  shmem_finalize();
  return 0;
}
