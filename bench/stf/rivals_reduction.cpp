// Sum of n doubles on one GPU by CUB's DeviceReduce, for bench/stf/reduction.cpp to be compared with: its sums one
// after the other in one stream, its temporary memory set aside before. One JSON object a line.
//
//   reduction [--elements 65536,1048576,...] [--repetitions N]
#include <chrono>
#include <cub/device/device_reduce.cuh>

#include "command_line.hpp"
#include "json_line.hpp"

namespace st = starling;

namespace {

void check(cudaError_t e, const char* what) {
  st::expect<st::error>(e == cudaSuccess, what, ": ", cudaGetErrorString(e));
}

__global__ void ones(double* x, long n) {
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) x[i] = 1;
}

class cub_sum {
 public:
  explicit cub_sum(long n) : n_(n) {
    check(cudaMalloc(&x_, static_cast<std::size_t>(n) * sizeof(double)), "cudaMalloc");
    check(cudaMalloc(&sum_, sizeof(double)), "cudaMalloc");
    ones<<<1024, 256>>>(x_, n);
    check(cub::DeviceReduce::Sum(nullptr, bytes_, x_, sum_, n_), "cub::DeviceReduce::Sum");
    check(cudaMalloc(&temporary_, bytes_), "cudaMalloc");
    once();
    double seen = 0;
    check(cudaMemcpy(&seen, sum_, sizeof seen, cudaMemcpyDeviceToHost), "cudaMemcpy");
    st::expect<st::error>(seen == static_cast<double>(n), "cub: ", seen, " instead of ", n);
  }
  ~cub_sum() {
    cudaFree(x_);
    cudaFree(sum_);
    cudaFree(temporary_);
  }
  cub_sum(const cub_sum&) = delete;
  cub_sum& operator=(const cub_sum&) = delete;

  void once() { check(cub::DeviceReduce::Sum(temporary_, bytes_, x_, sum_, n_), "cub::DeviceReduce::Sum"); }

 private:
  long n_;
  double* x_ = nullptr;
  double* sum_ = nullptr;
  void* temporary_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv, {"--elements", "--repetitions"});
  const int repetitions = static_cast<int>(given.number("--repetitions", 5));
  for (const int n : given.numbers("--elements", "65536,1048576,16777216,268435456,1073741824")) {
    cub_sum sum(n);
    const int times = n > 100'000'000 ? 20 : 100;
    std::vector<double> us;
    std::vector<double> rate;
    for (int k = 0; k < repetitions; ++k) {
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < times; ++i) sum.once();
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      us.push_back(1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times);
      rate.push_back(8e-3 * n / us.back());
    }
    st::bench::json_line("reduction")
        .add("machine", "cuda")
        .add("devices", 1)
        .add("elements", n)
        .add("way", "CUB")
        .add("us", us)
        .add("gb_per_s", rate)
        .print();
  }
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
