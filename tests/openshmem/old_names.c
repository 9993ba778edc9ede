/* Questions, order, sessions, and names of before, which begin without shmem_init and end by themselves. */
#include "check.h"

static int dest, source;
static shmem_ctx_t ctx;

int main(void) {
  int initialized = 1;
  shmem_query_initialized(&initialized);
  if (initialized) return 4;
  start_pes(0);
  start_pes(0);
  shmem_query_initialized(&initialized);
  const int me = _my_pe(), n = _num_pes(), right = (me + 1) % n;
  CHECK(initialized && me == shmem_my_pe() && n == shmem_n_pes());
  CHECK(shmem_pe_accessible(0) && shmem_pe_accessible(n - 1) && !shmem_pe_accessible(n) && !shmem_pe_accessible(-1));
  int major = 0, minor = 0;
  char name[SHMEM_MAX_NAME_LEN];
  shmem_info_get_version(&major, &minor);
  shmem_info_get_name(name);
  CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION && strcmp(name, SHMEM_VENDOR_STRING) == 0);

  long *first = shmalloc(8 * sizeof(long));
  long *second = shmemalign(4096, 64);
  CHECK(first != NULL && (uintptr_t)second % 4096 == 0);
  first[7] = me;
  first = shrealloc(first, 16 * sizeof(long));
  CHECK(first[7] == me);
  shfree(second);
  shfree(first);

  shmem_set_cache_inv();
  shmem_set_cache_line_inv(&dest);
  shmem_clear_cache_inv();
  shmem_clear_cache_line_inv(&dest);
  shmem_udcflush();
  shmem_udcflush_line(&dest);

  /* What is put before a fence comes before what is put after it. */
  static long data, ready;
  CHECK(shmem_ctx_create(0, &ctx) == 0);
  for (long round = 1; round <= 200; ++round) {
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_ctx_long_p(ctx, &data, round, right);
    shmem_ctx_session_stop(ctx);
    if (round % 2 == 0) shmem_fence();
    if (round % 2 == 1) shmem_ctx_fence(ctx);
    shmem_long_p(&ready, round, right);
    shmem_long_wait_until(&ready, SHMEM_CMP_GE, round);
    CHECK(data >= round);
    shmem_sync_all();
  }
  source = me;
  shmem_int_put_nbi(&dest, &source, 1, right);
  shmem_pe_quiet(&right, 1);
  shmem_ctx_pe_quiet(ctx, &right, 1);
  shmem_ctx_quiet(ctx);
  shmem_sync_all();
  CHECK(dest == (me + n - 1) % n);
  return 0;
}
