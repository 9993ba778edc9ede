// NCCL between the GPUs of one process: send and receive by size, one way, and all-reduce of two doubles. Prints one
// JSON object a line, like ways.cpp.
//
//   rivals_nccl [--devices N] [--bytes 8,64,...] [--repetitions 5] [--seconds 0.01] [--pairs all|one]
//
// Latency: half of a ping-pong. Stream: messages one way, one behind the other. Start them with NCCL_NVLS_ENABLE=0.
#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "command_line.hpp"
#include "communication/rivals_support.hpp"

namespace st = starling;

namespace {

using st::bench::check;
void check(ncclResult_t status, const char* call) {
  st::expect<st::device_error>(status == ncclSuccess, call, ": ", ncclGetErrorString(status));
}

class gpus {
 public:
  gpus(int count, st::index_t most_bytes) : comms_(static_cast<std::size_t>(count)) {
    check(ncclCommInitAll(comms_.data(), count, nullptr), "ncclCommInitAll");
    for (int i = 0; i < count; ++i) {
      check(cudaSetDevice(i), "cudaSetDevice");
      check(cudaStreamCreate(&streams_.emplace_back()), "cudaStreamCreate");
      check(cudaMalloc(&buffers_.emplace_back(), 2 * static_cast<std::size_t>(most_bytes)), "cudaMalloc");
    }
    most_bytes_ = most_bytes;
  }
  gpus(const gpus&) = delete;
  gpus& operator=(const gpus&) = delete;
  ~gpus() {
    for (ncclComm_t c : comms_) ncclCommAbort(c);  // does not wait for what may hang
  }

  int size() const { return static_cast<int>(comms_.size()); }

  void send(int from, int to, st::index_t bytes) {
    const auto n = static_cast<std::size_t>(bytes);
    check(ncclGroupStart(), "ncclGroupStart");
    check(ncclSend(buffers_[at(from)], n, ncclChar, to, comms_[at(from)], streams_[at(from)]), "ncclSend");
    check(ncclRecv(static_cast<char*>(buffers_[at(to)]) + most_bytes_, n, ncclChar, from, comms_[at(to)],
                   streams_[at(to)]),
          "ncclRecv");
    check(ncclGroupEnd(), "ncclGroupEnd");
  }

  void all_reduce(st::index_t doubles) {
    check(ncclGroupStart(), "ncclGroupStart");
    for (int i = 0; i < size(); ++i)
      check(ncclAllReduce(buffers_[at(i)], static_cast<char*>(buffers_[at(i)]) + most_bytes_,
                          static_cast<std::size_t>(doubles), ncclDouble, ncclSum, comms_[at(i)], streams_[at(i)]),
            "ncclAllReduce");
    check(ncclGroupEnd(), "ncclGroupEnd");
  }

  // Waits for all work, with a deadline.
  void finish() const {
    const auto limit = st::bench::soon();
    for (cudaStream_t s : streams_) st::bench::finish(s, limit);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  std::vector<ncclComm_t> comms_;
  std::vector<cudaStream_t> streams_;
  std::vector<void*> buffers_;
  st::index_t most_bytes_ = 0;
};

// Microseconds of one call of work, by repetition.
template <class Work>
std::vector<double> timed(const gpus& all, int repetitions, st::index_t iterations, const Work& work) {
  std::vector<double> us;
  for (int r = -1; r < repetitions; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (st::index_t i = 0; i < iterations; ++i) work();
    all.finish();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (r >= 0) us.push_back(1e6 * took.count() / static_cast<double>(iterations));
  }
  return us;
}

void print(const char* measure, int devices, int from, int to, st::index_t bytes, st::index_t iterations,
           std::vector<double> us, double parts) {
  for (double& t : us) t /= parts;
  st::bench::rival_result{"nccl", measure, devices, from, to, bytes, iterations, us}.print();
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv, {"--devices", "--bytes", "--repetitions", "--seconds", "--pairs"});
  int there = 0;
  check(cudaGetDeviceCount(&there), "cudaGetDeviceCount");
  const int devices = static_cast<int>(given.number("--devices", there));
  st::expect<st::argument_error>(devices <= there, "--devices ", devices, "; there are ", there, " GPUs");
  const std::vector<int> sizes =
      given.numbers("--bytes", "8,64,512,4096,16384,65536,262144,1048576,4194304,16777216,67108864");
  const int repetitions = static_cast<int>(given.number("--repetitions", 5));
  const double seconds = given.number("--seconds", 0.01);
  const bool one = given.text("--pairs", "all") == "one";
  gpus all(devices, *std::max_element(sizes.begin(), sizes.end()));
  for (int from = 0; from < devices; ++from)
    for (int to = 0; to < devices; ++to) {
      if (from == to || (one && (from != 0 || to != devices - 1))) continue;
      for (const st::index_t bytes : sizes) {
        const double guess = 20 + static_cast<double>(bytes) / 2e5;
        const auto n = static_cast<st::index_t>(std::clamp(1e6 * seconds / guess, 4.0, 10000.0));
        print("latency", devices, from, to, bytes, n,
              timed(all, repetitions, n, [&] { all.send(from, to, bytes), all.send(to, from, bytes); }), 2);
        print("stream", devices, from, to, bytes, n, timed(all, repetitions, n, [&] { all.send(from, to, bytes); }), 1);
      }
    }
  const auto n = static_cast<st::index_t>(std::clamp(1e6 * seconds / 20, 4.0, 10000.0));
  print("call", devices, -1, -1, 16, n, timed(all, repetitions, n, [&] { all.all_reduce(2); }), 1);
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "rivals_nccl: %s\n", e.what());
  return 1;
}
