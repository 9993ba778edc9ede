/* Globals and statics of the executable are symmetric: initialised, zero, of a function, large; and everything in them
   goes on as before, through two initialisations. */
#include "check.h"

enum { LARGE = 1 << 20 };

int initialised[4] = {1, 2, 3, 4};
static double zero[3];
static char large[LARGE];
const char* text = "as it was";
static int* pointer = &initialised[2];
static const int constant = 5;
int own;

static int counted(void) {
  static int calls = 10;
  return ++calls;
}

static int* address_of_local(void) {
  static int local[2] = {7, 8};
  return local;
}

static void round_of(int first) {
  int* local = address_of_local();
  const int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
  CHECK(strcmp(text, "as it was") == 0 && pointer == &initialised[2] && *pointer == 3);
  CHECK(initialised[0] == first && counted() == 10 + first);
  shmem_barrier_all();
  shmem_int_p(&initialised[1], 100 + me, right);
  shmem_double_p(&zero[2], 0.5 + me, right);
  shmem_int_p(&local[1], 200 + me, right);
  const char byte = (char)(me + 1);
  shmem_putmem(&large[LARGE - 1], &byte, 1, right);
  shmem_barrier_all();
  CHECK(initialised[1] == 100 + left && zero[2] == 0.5 + left && local[1] == 200 + left);
  CHECK(large[LARGE - 1] == left + 1 && large[0] == 0);
  /* What this PE stores itself, others see. */
  own = 1000 + me;
  shmem_barrier_all();
  CHECK(shmem_int_g(&own, right) == 1000 + right);
  CHECK(shmem_addr_accessible(&own, right) && shmem_addr_accessible(local, right));
  int on_stack = 0;
  CHECK(!shmem_addr_accessible(&on_stack, right) && !shmem_addr_accessible(&constant, right));
  void* allocated = malloc(64);
  CHECK(!shmem_addr_accessible(allocated, right) && shmem_ptr(allocated, right) == NULL);
  free(allocated);
  const int* theirs = shmem_ptr(&own, right);
  CHECK(is_near(right) ? theirs != NULL && *theirs == 1000 + right : theirs == NULL);
  CHECK(shmem_ptr(&own, me) == &own);
  shmem_barrier_all();
}

/* Whether the process has memory mapped that it shares with others. */
static int shares_memory(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  int found = 0;
  while (fgets(line, sizeof line, maps) != NULL) found |= strstr(line, "memfd:starling") != NULL;
  fclose(maps);
  return found;
}

int main(void) {
  large[5] = 1;
  shmem_init();
  CHECK(large[5] == 1 && shares_memory());
  large[5] = 0;
  round_of(1);
  const int me = shmem_my_pe();
  shmem_finalize();
  /* They stay, and are this process's own. */
  if (shares_memory()) return 5;
  if (own != 1000 + me || initialised[0] != 1 || *pointer != 3) return 4;
  own = 5;
  initialised[0] = 2;
  shmem_init();
  CHECK(own == 5);
  round_of(2);
  shmem_finalize();
  int initialised_now = 1;
  shmem_query_initialized(&initialised_now);
  return initialised_now;
}
