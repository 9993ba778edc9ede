/* Every PE gives a number to its right neighbour, with a signal, and all add up what they have got. */
#include <shmem.h>
#include <stdio.h>

static long box;
static uint64_t arrived;

int main(void) {
  static long sum;
  shmem_init();
  const int me = shmem_my_pe();
  const int right = (me + 1) % shmem_n_pes();
  const long mine = 10 * me;
  shmem_put_signal(&box, &mine, 1, &arrived, 1, SHMEM_SIGNAL_SET, right);
  shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
  shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &box, 1);
  if (me == 0) printf("PE 0 has got %ld, all together %ld\n", box, sum);
  shmem_finalize();
  return 0;
}
