/* What a message takes between two processes by MPI alone: half the time there and back, for each size. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double half_trip(char* data, int bytes, int rank, int trips) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < trips; ++i) {
    if (rank == 0) MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(data, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - start) / trips / 2 * 1e6;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int a = 1; a < argc; ++a) {
    const int bytes = atoi(argv[a]);
    char* data = malloc((size_t)bytes);
    if (data == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(data, 1, (size_t)bytes);
    const int trips = bytes > 65536 ? 100 : 2000;
    (void)half_trip(data, bytes, rank, trips / 10);
    double least = 1e30;
    for (int i = 0; i < 10; ++i) {
      const double us = half_trip(data, bytes, rank, trips / 10);
      if (us < least) least = us;
    }
    if (rank == 0) printf("%d %.3f\n", bytes, least);
    free(data);
  }
  MPI_Finalize();
  return 0;
}
