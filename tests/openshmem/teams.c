/* Teams and their contexts: random splits, each member's numbers, collectives within, and many made and destroyed, by
   several threads too. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 2, SPLITS = 150, KEPT = 3 };

static int me, n;
static long value, total;
static shmem_team_t parents[THREADS];
static long values[THREADS], totals[THREADS];

/* The sum of the numbers of all members, each 1 + its number in the world, and the numbering of the team. */
static void check_team(shmem_team_t team, int start, int stride, int size) {
  const int mine = shmem_team_my_pe(team);
  CHECK(shmem_team_n_pes(team) == size && start + mine * stride == me);
  long wanted = 0;
  for (int i = 0; i < size; ++i) {
    wanted += 1 + start + i * stride;
    CHECK(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD) == start + i * stride);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, start + i * stride, team) == i);
  }
  CHECK(shmem_team_translate_pe(team, size, SHMEM_TEAM_WORLD) == -1);
  value = 1 + me;
  CHECK(shmem_long_sum_reduce(team, &total, &value, 1) == 0 && total == wanted);
  CHECK(shmem_team_sync(team) == 0);
  shmem_ctx_t ctx;
  CHECK(shmem_team_create_ctx(team, 0, &ctx) == 0);
  shmem_team_t of_context;
  CHECK(shmem_ctx_get_team(ctx, &of_context) == 0 && of_context == team);
  CHECK(shmem_ctx_long_g(ctx, &value, (mine + 1) % size) == 1 + start + (mine + 1) % size * stride);
  const int next = start + (mine + 1) % size * stride;
  const long* theirs = shmem_team_ptr(team, &value, (mine + 1) % size);
  CHECK(is_near(next) ? theirs != NULL && *theirs == 1 + next : theirs == NULL);
  CHECK(shmem_team_sync(team) == 0);
  if (mine % 2 == 0) shmem_ctx_destroy(ctx); /* the others' end with the team */
}

static void random_splits(void) {
  uint64_t state = 11;
  for (int round = 0; round < 60; ++round) {
    const int size = 1 + below(&state, n);
    const int most = size > 1 ? (n - 1) / (size - 1) : 1;
    const int step = 1 + below(&state, most);
    const int first = below(&state, n - (size - 1) * step);
    const int backwards = below(&state, 2);
    const int start = backwards ? first + (size - 1) * step : first, stride = backwards ? -step : step;
    shmem_team_config_t config = {.num_contexts = round};
    shmem_team_t team;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) ==
          0);
    const int in = me >= first && (me - first) % step == 0 && (me - first) / step < size;
    CHECK(in == (team != SHMEM_TEAM_INVALID));
    if (!in) {
      CHECK(shmem_team_my_pe(team) == -1 && shmem_team_n_pes(team) == -1);
      continue;
    }
    config.num_contexts = -1;
    CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0 && config.num_contexts == round);
    check_team(team, start, stride, size);
    shmem_team_t half; /* a team of a team */
    CHECK(shmem_team_split_strided(team, 0, 2, (size + 1) / 2, NULL, 0, &half) == 0);
    if (half != SHMEM_TEAM_INVALID) {
      check_team(half, start, 2 * stride, (size + 1) / 2);
      shmem_team_destroy(half);
    }
    shmem_team_destroy(team);
  }
}

static void grids(void) {
  for (int width = 1; width <= n + 1; ++width) {
    shmem_team_t row, column;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &row, NULL, 0, &column) == 0);
    const int w = width < n ? width : n;
    const int x = me % w, y = me / w;
    check_team(row, y * w, 1, n - y * w < w ? n - y * w : w);
    check_team(column, x, w, (n - x + w - 1) / w);
    shmem_team_destroy(row);
    shmem_team_destroy(column);
  }
}

/* As many as there is room for beside the world and the PEs of this host, and one more. */
static void many_at_once(void) {
  enum { MANY = 254 };
  static shmem_team_t teams[MANY], another;
  for (int i = 0; i < MANY; ++i) CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &teams[i]) == 0);
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &another) != 0 && another == SHMEM_TEAM_INVALID);
  for (int i = MANY - 1; i >= 0; --i) {
    CHECK(shmem_team_sync(teams[i]) == 0);
    shmem_team_destroy(teams[i]);
  }
}

/* Splits a team of its own while other threads split theirs, and keeps some of the new ones. */
static void* split_often(void* number) {
  const int t = (int)(intptr_t)number;
  shmem_team_t kept[KEPT] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID};
  for (int i = 0; i < SPLITS; ++i) {
    const int size = n - i % n;
    shmem_team_t team;
    CHECK(shmem_team_split_strided(parents[t], i % n, 1, size, NULL, 0, &team) == 0);
    shmem_team_destroy(kept[i % KEPT]);
    kept[i % KEPT] = team;
    if (team == SHMEM_TEAM_INVALID) continue;
    values[t] = 1000 * t + i + shmem_team_my_pe(team);
    CHECK(shmem_long_sum_reduce(team, &totals[t], &values[t], 1) == 0);
    CHECK(totals[t] == (1000L * t + i) * size + size * (size - 1) / 2);
  }
  for (int i = 0; i < KEPT; ++i) shmem_team_destroy(kept[(SPLITS + i) % KEPT]);
  return NULL;
}

/* Of every second thread's team the last PE is the first member. */
static void by_threads(void) {
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; ++t)
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, t % 2 * (n - 1), 1 - t % 2 * 2, n, NULL, 0, &parents[t]) == 0);
  for (int t = 0; t < THREADS; ++t) CHECK(pthread_create(&threads[t], NULL, split_often, (void*)(intptr_t)t) == 0);
  for (int t = 0; t < THREADS; ++t) CHECK(pthread_join(threads[t], NULL) == 0);
  for (int t = 0; t < THREADS; ++t) shmem_team_destroy(parents[t]);
}

int main(void) {
  int provided = 0, asked = -1;
  CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
  shmem_query_thread(&asked);
  CHECK(asked == provided);
  me = shmem_my_pe();
  n = shmem_n_pes();
  check_team(SHMEM_TEAM_WORLD, 0, 1, n);
  check_team(SHMEM_TEAM_SHARED, me - shmem_team_my_pe(SHMEM_TEAM_SHARED), 1, near_pes());
  random_splits();
  grids();
  many_at_once();
  by_threads();
  many_at_once();
  shmem_finalize();
  return 0;
}
