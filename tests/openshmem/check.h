/* What the programs of this folder share: checks that name their line, and numbers. */
#ifndef STARLING_TESTS_OPENSHMEM_CHECK_H
#define STARLING_TESTS_OPENSHMEM_CHECK_H

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the job when the condition does not hold. */
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)

static inline void check(int holds, const char* condition, const char* file, int line) {
  if (holds) return;
  fprintf(stderr, "PE %d: %s:%d: %s\n", shmem_my_pe(), file, line, condition);
  shmem_global_exit(3);
}

/* How many PEs are of this one's host, by what the processes were started with. */
static inline int near_pes(void) {
  const char *transport = getenv("STARLING_TRANSPORT"), *here = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (transport != NULL && (strcmp(transport, "mpi") == 0 || strcmp(transport, "nvshmem") == 0)) return 1;
  return here != NULL ? atoi(here) : shmem_n_pes();
}

/* Whether a PE is. */
static inline int is_near(int pe) { return shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0; }

/* A generator that is the same everywhere (splitmix64). */
static inline uint64_t next_number(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline int below(uint64_t* state, int n) { return (int)(next_number(state) % (uint64_t)n); }

/* The number that a PE has at an index in a round: small, so that every type holds it and sums are exact. */
static inline int number_of(int round, int pe, int i) { return (round * 5 + pe * 7 + i * 3) % 23 + 1; }

#endif
