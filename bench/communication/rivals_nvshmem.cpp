// NVSHMEM, one process for each GPU of this host: putmem_signal by a thread block, by size, one way; put from the host;
// barrier_all by a block. Prints one JSON object a line, like ways.cpp.
//
//   rivals_nvshmem [--devices N] [--bytes 8,64,...] [--repetitions 5] [--seconds 0.01] [--limit 60]
//
// The processes are forked here and meet by a unique id; the parent ends them when the limit, in seconds, has passed.
// Start with NVSHMEM_DISABLE_NVLS=1. Set NVSHMEM_REMOTE_TRANSPORT=none and NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME=lo where
// there is no network.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "command_line.hpp"
#include "communication/rivals_support.hpp"

namespace st = starling;

namespace {

using st::bench::check;

// The two ends of every child's pipe.
struct pipe_ends {
  int read = -1;
  int write = -1;
};

__device__ unsigned long long timer() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

// Whether the signal has come within ten seconds; for all threads of the block.
__device__ bool await(std::uint64_t* signal, std::uint64_t value) {
  bool came = true;
  if (threadIdx.x == 0) {
    const unsigned long long limit = timer() + 10'000'000'000ull;
    while (came && nvshmem_signal_fetch(signal) < value) came = timer() < limit;
  }
  return __syncthreads_and(came) != 0;
}

// Laps of repetitions, the first to warm up. Half a ping-pong each, between PE 0 and the last.
__global__ void ping_pong(char* inbox, const char* source, std::size_t bytes, std::uint64_t* signal,
                          std::uint64_t number, int iterations, int repetitions, unsigned long long* ns) {
  const int me = nvshmem_my_pe();
  const int last = nvshmem_n_pes() - 1;
  if (me != 0 && me != last) return;
  const int other = me == 0 ? last : 0;
  for (int r = 0; r <= repetitions; ++r) {
    const unsigned long long begin = timer();
    for (int i = 0; i < iterations; ++i) {
      ++number;
      char* slot = inbox + number % 2 * bytes;
      if (me != 0 && !await(signal, number)) return;
      nvshmemx_putmem_signal_block(slot, source, bytes, signal, number, NVSHMEM_SIGNAL_SET, other);
      if (me == 0 && !await(signal, number)) return;
    }
    if (threadIdx.x == 0) ns[r] = timer() - begin;
  }
}

__global__ void barriers(int iterations, int repetitions, unsigned long long* ns) {
  for (int r = 0; r <= repetitions; ++r) {
    const unsigned long long begin = timer();
    for (int i = 0; i < iterations; ++i) nvshmemx_barrier_all_block();
    if (threadIdx.x == 0) ns[r] = timer() - begin;
  }
}

void print(const char* what, const char* measure, int devices, int to, st::index_t bytes, int iterations,
           const std::vector<double>& us) {
  st::bench::rival_result{what, measure, devices, to < 0 ? -1 : 0, to, bytes, iterations, us}.print();
}

struct wishes {
  int devices;
  std::vector<int> sizes;
  int repetitions;
  double seconds;
};

class bench {
 public:
  explicit bench(const wishes& w) : w_(w), most_(*std::max_element(w.sizes.begin(), w.sizes.end())) {
    inbox_ = static_cast<char*>(nvshmem_malloc(2 * most_));
    source_ = static_cast<char*>(nvshmem_malloc(most_));
    signal_ = static_cast<std::uint64_t*>(nvshmem_calloc(1, sizeof(std::uint64_t)));
    st::expect<st::memory_error>(inbox_ && source_ && signal_, "nvshmem_malloc of ", 3 * most_,
                                 " bytes failed; raise NVSHMEM_SYMMETRIC_SIZE");
    check(cudaMallocHost(reinterpret_cast<void**>(&ns_), sizeof(*ns_) * static_cast<std::size_t>(w.repetitions + 1)),
          "cudaMallocHost");
  }

  void all() {
    for (const int bytes : w_.sizes) messages(bytes);
    for (const int bytes : w_.sizes) from_host(bytes);
    const int n = times(5);
    barriers<<<1, 256>>>(n, w_.repetitions, ns_);
    report("nvshmem barrier_all", "call", -1, 0, n, 1);
  }

 private:
  int last() const { return w_.devices - 1; }
  int times(double us) const { return static_cast<int>(std::clamp(1e6 * w_.seconds / us, 4.0, 100000.0)); }

  void messages(int bytes) {
    const int n = times(3 + bytes / 2e4);
    nvshmem_barrier_all();
    ping_pong<<<1, bytes <= 512    ? 64
                   : bytes <= 4096 ? 256
                                   : 1024>>>(inbox_, source_, static_cast<std::size_t>(bytes), signal_, number_, n,
                                             w_.repetitions, ns_);
    number_ += static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(w_.repetitions + 1);
    report("nvshmem put_signal", "latency", last(), bytes, n, 2);
  }

  void from_host(int bytes) {
    const int n = times(15 + bytes / 1e5);
    std::vector<double> us;
    nvshmem_barrier_all();
    if (nvshmem_my_pe() == 0)
      for (int r = 0; r <= w_.repetitions; ++r) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < n; ++i) {
          nvshmem_putmem(inbox_, source_, static_cast<std::size_t>(bytes), last());
          nvshmem_quiet();
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (r > 0) us.push_back(1e6 * took.count() / n);
      }
    if (nvshmem_my_pe() == 0) print("nvshmem host put", "latency", w_.devices, last(), bytes, n, us);
    nvshmem_barrier_all();
  }

  void report(const char* what, const char* measure, int to, int bytes, int iterations, int parts) {
    check(cudaGetLastError(), what);
    check(cudaDeviceSynchronize(), what);
    std::vector<double> us;
    for (int r = 1; r <= w_.repetitions; ++r)
      us.push_back(static_cast<double>(ns_[r]) / 1e3 / iterations / static_cast<double>(parts));
    if (nvshmem_my_pe() == 0) print(what, measure, w_.devices, to, bytes, iterations, us);
  }

  wishes w_;
  std::size_t most_;
  char* inbox_ = nullptr;
  char* source_ = nullptr;
  std::uint64_t* signal_ = nullptr;
  std::uint64_t number_ = 0;
  unsigned long long* ns_ = nullptr;
};

void run_pe(int pe, const wishes& w, const std::vector<pipe_ends>& pipes) {
  check(cudaSetDevice(pe), "cudaSetDevice");
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  constexpr auto whole = static_cast<ssize_t>(sizeof id);
  if (pe == 0) {
    st::expect<st::device_error>(nvshmemx_get_uniqueid(&id) == 0, "nvshmemx_get_uniqueid failed");
    for (const pipe_ends& p : pipes)
      st::expect<st::device_error>(write(p.write, &id, sizeof id) == whole, "the unique id could not be handed on");
  } else {
    st::expect<st::device_error>(read(pipes[static_cast<std::size_t>(pe)].read, &id, sizeof id) == whole,
                                 "the unique id has not come");
  }
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  nvshmemx_set_attr_uniqueid_args(pe, w.devices, &id, &attributes);
  st::expect<st::device_error>(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0,
                               "nvshmemx_init_attr failed on PE ", pe);
  bench(w).all();
  nvshmem_barrier_all();
  nvshmem_finalize();
}

int run_child(int pe, const wishes& w, const std::vector<pipe_ends>& pipes) try {
  run_pe(pe, w, pipes);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "rivals_nvshmem: %s\n", e.what());
  return 1;
}

// 0 when all children end well within the limit; the others are ended.
int watch(std::vector<pid_t> children, double limit) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit);
  int failed = 0;
  while (!children.empty()) {
    for (auto c = children.begin(); c != children.end();) {
      int status = 0;
      const bool gone = waitpid(*c, &status, WNOHANG) != 0;
      failed += gone && status != 0;
      c = gone ? children.erase(c) : c + 1;
    }
    if (children.empty()) break;
    const bool late = std::chrono::steady_clock::now() > end;
    if (late) std::fprintf(stderr, "rivals_nvshmem: no end after %g s\n", limit);
    if (late || failed > 0)
      for (const pid_t c : children) kill(c, SIGKILL);
    failed += late;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return failed > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv, {"--devices", "--bytes", "--repetitions", "--seconds", "--limit"});
  const wishes w{static_cast<int>(given.number("--devices", 2)),
                 given.numbers("--bytes", "8,64,512,4096,16384,65536,262144,1048576,4194304,16777216"),
                 static_cast<int>(given.number("--repetitions", 5)), given.number("--seconds", 0.01)};
  std::vector<pipe_ends> pipes(static_cast<std::size_t>(w.devices));
  for (pipe_ends& p : pipes) {
    int ends[2];
    st::expect<st::device_error>(pipe(ends) == 0, "no pipe could be made");
    p = {ends[0], ends[1]};
  }
  std::vector<pid_t> children;
  for (int pe = 0; pe < w.devices; ++pe) {
    const pid_t child = fork();
    st::expect<st::device_error>(child >= 0, "no process could be made for PE ", pe);
    if (child == 0) {
      const int status = run_child(pe, w, pipes);
      std::fflush(nullptr);
      _exit(status);
    }
    children.push_back(child);
  }
  return watch(std::move(children), given.number("--limit", 60));
} catch (const st::error& e) {
  std::fprintf(stderr, "rivals_nvshmem: %s\n", e.what());
  return 1;
}
