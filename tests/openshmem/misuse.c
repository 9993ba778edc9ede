/* One wrong use each, named by the first argument; misuse.py knows what has to be said. */
#include <pthread.h>
#include <shmemx.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static int word, words[4], dest[64];
static uint64_t flag;
static long lock, pSync[SHMEM_SYNC_SIZE];
static int me, n;
static shmem_ctx_t ctx;
static shmem_team_t team;

#define CASE(name, ...)             \
  if (strcmp(argv[1], name) == 0) { \
    __VA_ARGS__;                    \
    return 0;                       \
  }

static int told;
static shmemx_error_t told_error;
static void remember(shmemx_error_t error, const char* text) {
  ++told;
  told_error = error;
  if (strstr(text, "shmem_int_p") == NULL) told = -100;
}

/* With a handler that returns, calls do nothing and give 0. */
static int with_handler(void) {
  int other;
  CHECK(shmemx_set_error_handler(remember) == NULL);
  word = 5;
  shmem_barrier_all();
  shmem_int_p(&word, 6, n);
  CHECK(told == 1 && told_error == SHMEMX_ERROR_RANGE && shmemx_last_error() == SHMEMX_ERROR_RANGE);
  shmem_int_p(&other, 6, 0);
  CHECK(told == 2 && strstr(shmemx_last_error_text(), "is not symmetric") != NULL);
  shmem_barrier_all();
  CHECK(word == 5 && shmemx_set_error_handler(NULL) == remember);
  /* Functions with a status do not ask it, and a job goes on. */
  CHECK(shmem_malloc(me == 0 ? 8 : 16) == NULL || n == 1);
  CHECK(n == 1 || shmemx_last_error() == SHMEMX_ERROR_ARGUMENT);
  CHECK(shmem_malloc((size_t)1 << 40) == NULL && shmemx_last_error() == SHMEMX_ERROR_MEMORY);
  CHECK(shmem_int_sum_reduce(SHMEM_TEAM_INVALID, dest, words, 1) != 0);
  CHECK(shmem_int_broadcast(SHMEM_TEAM_WORLD, dest, words, 1, n) != 0);
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n + 1, NULL, 0, &team) != 0 && team == SHMEM_TEAM_INVALID);
  CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &team, NULL, 0, &team) != 0);
  CHECK(shmem_ctx_create(64, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
  CHECK(shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, words, me == 0 ? 1 : 2) != 0 || n == 1);
  CHECK(shmem_int_fcollect(SHMEM_TEAM_WORLD, dest, words, 2) == 0);
  shmem_finalize();
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  CASE("before_init", shmem_int_p(&word, 1, 0))
  CASE("barrier_before_init", shmem_barrier_all())
  CASE("finalize_before_init", shmem_finalize())
  CASE("late", if (getenv("STARLING_RANK")[0] == '1') sleep(4); shmem_init())
  shmem_init();
  me = shmem_my_pe();
  n = shmem_n_pes();
  if (strcmp(argv[1], "handler") == 0) return with_handler();
  CASE("pe", shmem_int_put(dest, words, 4, n))
  CASE("pe_negative", (void)shmem_int_g(&word, -1))
  CASE("stack", int other = 0; shmem_int_p(&other, 1, 0))
  CASE("malloc", int* other = malloc(64); shmem_int_put(other, words, 4, 0))
  CASE("library", shmem_putmem(stdout, words, 4, 0))
  CASE("beyond", int* a = shmem_malloc(64); shmem_int_put(a, words, 17, 0))
  CASE("freed", int* a = shmem_malloc(64); shmem_free(a); shmem_free(a))
  CASE("count", shmem_int_put(dest, words, SIZE_MAX / 2, 0))
  CASE("stride", shmem_int_iput(dest, words, 0, 1, 2, 0))
  CASE("ctx", shmem_ctx_int_p((shmem_ctx_t)77, &word, 1, 0))
  CASE("ctx_destroyed", shmem_ctx_create(0, &ctx); shmem_ctx_destroy(ctx); shmem_ctx_int_p(ctx, &word, 1, 0))
  CASE("ctx_pe", shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team);
       if (me == 0) shmem_team_create_ctx(team, 0, &ctx), shmem_ctx_int_p(ctx, &word, 1, 1); shmem_barrier_all())
  CASE("team_destroyed", shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team); shmem_team_destroy(team);
       shmem_team_destroy(team))
  CASE("world_destroyed", shmem_team_destroy(SHMEM_TEAM_WORLD))
  CASE("comparison", shmem_int_wait_until(&word, 6, 1))
  CASE("sig_op", shmem_int_put_signal(dest, words, 1, &flag, 1, 2, 0))
  CASE("misaligned", (void)shmem_int_atomic_fetch_inc((int*)((char*)words + 1), 0))
  CASE("different_calls", if (me == 0) shmem_barrier_all(); else shmem_sync_all())
  CASE("different_root", shmem_broadcast32(dest, words, 1, me == 0 ? 0 : 1, 0, 0, n, pSync))
  CASE("active_set", shmem_barrier(0, 0, n + 1, pSync))
  CASE("not_in_set", shmem_barrier(n - 1, 0, 1, pSync))
  CASE("psync", pSync[0] = 7; shmem_barrier(0, 0, n, pSync))
  CASE("lock_of_other", if (me == 0) shmem_set_lock(&lock); shmem_barrier_all(); if (me == 1) shmem_clear_lock(&lock);
       shmem_barrier_all())
  CASE("lock_free", shmem_clear_lock(&lock))
  CASE("lock_twice", if (me == 0) shmem_set_lock(&lock), shmem_set_lock(&lock); shmem_barrier_all())
  CASE("never_written", if (me == 0) shmem_int_wait_until(&word, SHMEM_CMP_EQ, 1); shmem_barrier_all())
  CASE("never_comes", if (me == 1) sleep(4); shmem_barrier_all())
  CASE("killed", if (me == 1) raise(SIGKILL); shmem_barrier_all())
  CASE("killed_while_waiting", if (me == n - 1) usleep(200000), raise(SIGKILL);
       shmem_int_wait_until(&word, SHMEM_CMP_EQ, 1))
  CASE("killed_while_testing", if (me == n - 1) usleep(200000), raise(SIGKILL);
       while (!shmem_int_test(&word, SHMEM_CMP_EQ, 1)))
  CASE("killed_with_lock", if (me == 1) shmem_set_lock(&lock); shmem_barrier_all(); if (me == 1) raise(SIGKILL);
       shmem_set_lock(&lock))
  CASE("exits_with_error", if (me == 1) exit(9); shmem_barrier_all())
  CASE("global_exit", if (me == 1) printf("the last word"), shmem_global_exit(42); for (;;) pause())
  CASE("global_exit_well", if (me == 1) shmem_global_exit(0); shmem_barrier_all())
  CASE("no_finalize", shmem_int_p(&word, 1, (me + 1) % n))
  CASE("finalize_too_often", shmem_finalize(); shmem_finalize())
  CASE("init_twice", shmem_init(); shmem_finalize(); shmem_barrier_all(); shmem_finalize())
  return 2;
}
