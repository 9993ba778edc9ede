/* A profiler takes a function and calls it by its other name. */
#include <pshmem.h>

#include "check.h"

static int puts_counted, level_seen;

void shmem_int_put(int* dest, const int* source, size_t nelems, int pe) {
  ++puts_counted;
  pshmem_int_put(dest, source, nelems, pe);
}

void shmem_pcontrol(int level, ...) { level_seen = level; }

int main(void) {
  static int dest, source;
  shmem_init();
  const int me = pshmem_my_pe(), n = pshmem_n_pes();
  source = me;
  shmem_pcontrol(2);
  shmem_int_put(&dest, &source, 1, (me + 1) % n);
  shmem_put(&dest, &source, 1, (me + 1) % n);
  pshmem_barrier_all();
  CHECK(dest == (me + n - 1) % n && puts_counted == 2 && level_seen == 2);
  pshmem_finalize();
  return 0;
}
