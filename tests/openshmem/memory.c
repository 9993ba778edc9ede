/* The symmetric heap: random allocations of all kinds, what is in them, and that all of it comes back. Then locks. */
#include <sched.h>

#include "check.h"

enum { MANY = 24 };

static long lock, other_lock;
static long counter;

static void heap(void) {
  const int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
  uint64_t state = 3;
  char* parts[MANY] = {NULL};
  size_t sizes[MANY] = {0};
  for (int round = 0; round < 200; ++round) {
    const int i = below(&state, MANY);
    const size_t size = 1 + (size_t)below(&state, 30000);
    const int how = below(&state, 5);
    if (parts[i] != NULL && how == 4) {
      parts[i] = shmem_realloc(parts[i], size);
      CHECK(parts[i] != NULL);
      const size_t kept = size < sizes[i] ? size : sizes[i];
      for (size_t k = 0; k < kept; ++k) CHECK(parts[i][k] == (char)(i + left));
    } else {
      shmem_free(parts[i]);
      const size_t alignment = (size_t)1 << below(&state, 25);
      parts[i] = how == 0   ? shmem_calloc(size, 1)
                 : how == 1 ? shmem_align(alignment, size)
                 : how == 2 ? shmem_malloc_with_hints(size, SHMEM_MALLOC_SIGNAL_REMOTE)
                            : shmem_malloc(size);
      CHECK(parts[i] != NULL && (how != 1 || (uintptr_t)parts[i] % alignment == 0));
      for (size_t k = 0; how == 0 && k < size; ++k) CHECK(parts[i][k] == 0);
    }
    sizes[i] = size;
    char* mine = malloc(size);
    memset(mine, i + me, size);
    shmem_barrier_all();
    shmem_putmem(parts[i], mine, size, right);
    free(mine);
    shmem_barrier_all();
  }
  for (int i = 0; i < MANY; ++i) {
    for (size_t k = 0; k < sizes[i]; ++k) CHECK(parts[i][k] == (char)(i + left));
    shmem_free(parts[i]);
  }
  CHECK(shmem_malloc(0) == NULL && shmem_realloc(NULL, 0) == NULL);
  /* All of it is free again: most of the heap of 64 MiB, several times. */
  for (int i = 0; i < 4; ++i) {
    void* most = shmem_malloc((size_t)60 << 20);
    CHECK(most != NULL);
    shmem_free(most);
  }
}

static void locks(void) {
  const int n = shmem_n_pes();
  for (int i = 0; i < 50; ++i) {
    shmem_set_lock(&lock);
    const long before = shmem_long_g(&counter, 0);
    sched_yield(); /* so that another one would come in between */
    shmem_long_p(&counter, before + 1, 0);
    shmem_clear_lock(&lock);
    while (shmem_test_lock(&other_lock) != 0);
    const long other = shmem_long_g(&counter, n - 1);
    sched_yield();
    shmem_long_p(&counter, other + 1, n - 1);
    shmem_clear_lock(&other_lock);
  }
  shmem_barrier_all();
  CHECK(shmem_long_g(&counter, 0) == (n == 1 ? 100 : 50) * n &&
        shmem_long_g(&counter, n - 1) == (n == 1 ? 100 : 50) * n);
  CHECK(shmem_my_pe() != 0 || (lock == 0 && other_lock == 0));
}

int main(void) {
  shmem_init();
  heap();
  locks();
  shmem_finalize();
  return 0;
}
