// MPI, one process for each GPU of this host: send and receive by size between the first GPU and the last, one way, and
// all-reduce of two doubles. By way of pinned memory of the host and, if the library says that it can, straight from
// the GPUs' memory. Prints one JSON object a line, like ways.cpp.
//
//   mpiexec -n N rivals_mpi [--bytes 8,64,...] [--repetitions 5] [--seconds 0.01] [--limit 60]
//
// Latency: half of a ping-pong. A process that has not ended when the limit, in seconds, has passed is ended by an
// alarm, and mpiexec then ends the others.
#define OMPI_SKIP_MPICXX 1  // the C++ interfaces, which the standard no longer has
#define MPICH_SKIP_MPICXX 1
#include <cuda_runtime.h>
#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "command_line.hpp"
#include "communication/rivals_support.hpp"

namespace st = starling;

namespace {

using st::bench::check;
void check(int status, const char* call) {
  st::expect<st::device_error>(status == MPI_SUCCESS, call, ": MPI error ", status);
}

bool takes_memory_of_gpus() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

// One process's memory: on its GPU, and pinned on the host.
class buffers {
 public:
  explicit buffers(std::size_t bytes) {
    check(cudaMalloc(&gpu_, bytes), "cudaMalloc");
    check(cudaMallocHost(&host_, bytes), "cudaMallocHost");
  }
  buffers(const buffers&) = delete;
  buffers& operator=(const buffers&) = delete;
  ~buffers() {
    cudaFree(gpu_);
    cudaFreeHost(host_);
  }

  void send(int bytes, int to, bool staged) const {
    if (staged) check(cudaMemcpy(host_, gpu_, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(MPI_Send(staged ? host_ : gpu_, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD), "MPI_Send");
  }
  void receive(int bytes, int from, bool staged) const {
    check(MPI_Recv(staged ? host_ : gpu_, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
    if (staged) check(cudaMemcpy(gpu_, host_, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  void all_reduce(int doubles, bool staged) const {
    const std::size_t bytes = static_cast<std::size_t>(doubles) * sizeof(double);
    if (staged) check(cudaMemcpy(host_, gpu_, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    check(MPI_Allreduce(MPI_IN_PLACE, staged ? host_ : gpu_, doubles, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
          "MPI_Allreduce");
    if (staged) check(cudaMemcpy(gpu_, host_, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }

 private:
  void* gpu_ = nullptr;
  void* host_ = nullptr;
};

struct bench {
  int me = 0;
  int devices = 1;
  int repetitions = 5;
  double seconds = 0.01;

  // All processes call it. Microseconds of one call of work, over `parts`, by repetition.
  std::vector<double> timed(st::index_t iterations, double parts, const std::function<void()>& work) const {
    std::vector<double> us;
    for (int r = -1; r < repetitions; ++r) {
      check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
      const auto start = std::chrono::steady_clock::now();
      for (st::index_t i = 0; i < iterations; ++i) work();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (r >= 0) us.push_back(1e6 * took.count() / static_cast<double>(iterations) / parts);
    }
    return us;
  }

  void print(bool staged, const char* measure, int from, int to, int bytes, st::index_t n,
             const std::vector<double>& us) const {
    if (me != 0) return;
    st::bench::rival_result{staged ? "mpi staged" : "mpi", measure, devices, from, to, bytes, n, us}.print();
  }

  st::index_t times(double us) const { return static_cast<st::index_t>(std::clamp(1e6 * seconds / us, 4.0, 10000.0)); }

  void message(const buffers& b, int bytes, bool staged) const {
    const int last = devices - 1;
    const st::index_t n = times(40 + static_cast<double>(bytes) / 1e4);
    const auto work = [&] {
      if (me == 0) b.send(bytes, last, staged), b.receive(bytes, last, staged);
      if (me == last) b.receive(bytes, 0, staged), b.send(bytes, 0, staged);
    };
    print(staged, "latency", 0, last, bytes, n, timed(n, 2, work));
  }

  void all_reduce(const buffers& b, bool staged) const {
    const st::index_t n = times(40);
    print(staged, "call", -1, -1, 16, n, timed(n, 1, [&] { b.all_reduce(2, staged); }));
  }
};

void measure(int argc, char** argv) {
  const st::bench::command_line given(argc, argv, {"--bytes", "--repetitions", "--seconds", "--limit"});
  alarm(static_cast<unsigned>(given.number("--limit", 60)));
  bench all;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &all.me), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &all.devices), "MPI_Comm_size");
  all.repetitions = static_cast<int>(given.number("--repetitions", 5));
  all.seconds = given.number("--seconds", 0.01);
  int there = 0;
  check(cudaGetDeviceCount(&there), "cudaGetDeviceCount");
  st::expect<st::argument_error>(all.devices >= 2, "start it with mpiexec -n 2 or more; it is one process");
  st::expect<st::argument_error>(all.devices <= there, all.devices, " processes; there are ", there, " GPUs");
  check(cudaSetDevice(all.me), "cudaSetDevice");
  const std::vector<int> sizes =
      given.numbers("--bytes", "8,64,512,4096,16384,65536,262144,1048576,4194304,16777216,67108864");
  const buffers b(static_cast<std::size_t>(std::max(16, *std::max_element(sizes.begin(), sizes.end()))));
  for (const bool staged : {true, false}) {
    if (!staged && !takes_memory_of_gpus()) continue;
    for (const int bytes : sizes) all.message(b, bytes, staged);
    all.all_reduce(b, staged);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    measure(argc, argv);
  } catch (const st::error& e) {
    std::fprintf(stderr, "rivals_mpi: %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
