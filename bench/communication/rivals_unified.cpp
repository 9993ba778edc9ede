// Unified memory between the GPUs of one process: a kernel on one GPU changes every word of a managed array, then a
// kernel on the other does, so that its pages travel there by themselves, or are fetched ahead by the host. Prints one
// JSON object a line, like ways.cpp.
//
//   rivals_unified [--devices N] [--bytes 8,64,...] [--repetitions 5] [--seconds 0.01] [--pairs all|one]
//
// Latency: half of the way there and back, with the kernels. Events order them; the host waits for the last alone.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "command_line.hpp"
#include "communication/rivals_support.hpp"

namespace st = starling;

namespace {

using st::bench::check;

__global__ void add_one(std::uint64_t* words, st::index_t n) {
  const st::index_t step = static_cast<st::index_t>(gridDim.x) * blockDim.x;
  for (st::index_t i = static_cast<st::index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) ++words[i];
}

void fetch(const std::uint64_t* words, std::size_t bytes, int device, cudaStream_t s) {
#if CUDART_VERSION >= 13000
  cudaMemLocation where{};
  where.type = cudaMemLocationTypeDevice;
  where.id = device;
  check(cudaMemPrefetchAsync(words, bytes, where, 0, s), "cudaMemPrefetchAsync");
#else
  check(cudaMemPrefetchAsync(words, bytes, device, s), "cudaMemPrefetchAsync");
#endif
}

// One array that two GPUs change in turn.
class shared_array {
 public:
  shared_array(int from, int to, st::index_t bytes, bool ahead)
      : devices_{from, to}, bytes_(static_cast<std::size_t>(bytes)), ahead_(ahead) {
    check(cudaMallocManaged(&words_, bytes_), "cudaMallocManaged");
    std::fill_n(words_, bytes_ / 8, std::uint64_t{0});
    for (int i = 0; i < 2; ++i) {
      check(cudaSetDevice(devices_[i]), "cudaSetDevice");
      check(cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      check(cudaEventCreateWithFlags(&done_[i], cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
  }
  shared_array(const shared_array&) = delete;
  shared_array& operator=(const shared_array&) = delete;
  ~shared_array() {
    for (int i = 0; i < 2; ++i) {
      cudaStreamDestroy(streams_[i]);
      cudaEventDestroy(done_[i]);
    }
    cudaFree(words_);
  }

  // The first GPU's turn, then the second's.
  void there_and_back() {
    for (int i = 0; i < 2; ++i) turn(i);
    ++rounds_;
  }

  // Waits for all turns, with a deadline.
  void finish() const { st::bench::finish(streams_[1], st::bench::soon()); }

  // Every word has seen every turn.
  void verify() const {
    for (std::size_t i = 0; i < bytes_ / 8; ++i)
      st::expect<st::error>(words_[i] == 2 * rounds_, "unified memory: word ", i, " is ", words_[i], " after ",
                            2 * rounds_, " turns");
  }

 private:
  void turn(int i) {
    check(cudaSetDevice(devices_[i]), "cudaSetDevice");
    check(cudaStreamWaitEvent(streams_[i], done_[1 - i]), "cudaStreamWaitEvent");
    if (ahead_) fetch(words_, bytes_, devices_[i], streams_[i]);
    const auto n = static_cast<st::index_t>(bytes_ / 8);
    const auto blocks = static_cast<unsigned>(std::clamp<st::index_t>(n / 256, 1, 1024));
    add_one<<<blocks, 256, 0, streams_[i]>>>(words_, n);
    check(cudaGetLastError(), "add_one");
    check(cudaEventRecord(done_[i], streams_[i]), "cudaEventRecord");
  }

  int devices_[2];
  std::size_t bytes_;
  bool ahead_;
  std::uint64_t* words_ = nullptr;
  cudaStream_t streams_[2] = {};
  cudaEvent_t done_[2] = {};
  std::uint64_t rounds_ = 0;
};

void measure(int devices, int from, int to, st::index_t bytes, bool ahead, int repetitions, double seconds) {
  shared_array a(from, to, bytes, ahead);
  const double guess = 100 + static_cast<double>(bytes) / 5e3;
  const auto n = static_cast<st::index_t>(std::clamp(1e6 * seconds / guess, 4.0, 1000.0));
  std::vector<double> us;
  for (int r = -1; r < repetitions; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (st::index_t i = 0; i < n; ++i) a.there_and_back();
    a.finish();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (r >= 0) us.push_back(1e6 * took.count() / static_cast<double>(2 * n));
  }
  a.verify();
  const char* what = ahead ? "unified, fetched ahead" : "unified";
  st::bench::rival_result{what, "latency", devices, from, to, bytes, n, us}.print();
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv, {"--devices", "--bytes", "--repetitions", "--seconds", "--pairs"});
  int there = 0;
  check(cudaGetDeviceCount(&there), "cudaGetDeviceCount");
  const int devices = static_cast<int>(given.number("--devices", there));
  st::expect<st::argument_error>(devices <= there, "--devices ", devices, "; there are ", there, " GPUs");
  for (int d = 0; d < devices; ++d) {
    int can = 0;
    check(cudaDeviceGetAttribute(&can, cudaDevAttrConcurrentManagedAccess, d), "cudaDeviceGetAttribute");
    st::expect<st::device_error>(can != 0, "GPU ", d,
                                 " cannot fetch pages of managed memory as it needs them; nothing to measure here");
  }
  const int repetitions = static_cast<int>(given.number("--repetitions", 5));
  const double seconds = given.number("--seconds", 0.01);
  const bool one = given.text("--pairs", "all") == "one";
  for (int from = 0; from < devices; ++from)
    for (int to = 0; to < devices; ++to) {
      if (from == to || (one && (from != 0 || to != devices - 1))) continue;
      for (const int bytes : given.numbers("--bytes", "8,512,4096,65536,1048576,16777216"))
        for (const bool ahead : {false, true}) measure(devices, from, to, bytes, ahead, repetitions, seconds);
    }
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "rivals_unified: %s\n", e.what());
  return 1;
}
