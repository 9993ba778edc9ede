// One GPU's share of the host-controlled rival: conjugate gradients by cuSPARSE's product, peer stores for the halo,
// and NCCL for the sums, all put into one stream by the host, or recorded once as a graph.
#pragma once

#include <nccl.h>

#include <functional>
#include <memory>

#include "rivals_kernels.hpp"
#include "rivals_support.hpp"
#include "rivals_threads.hpp"

namespace starling::bench {

inline void check(ncclResult_t status, const char* call) {
  expect<device_error>(status == ncclSuccess, call, ": ", ncclGetErrorString(status));
}

// A stream of the current GPU.
class gpu_stream {
 public:
  gpu_stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
  ~gpu_stream() { cudaStreamDestroy(stream_); }
  gpu_stream(const gpu_stream&) = delete;
  gpu_stream& operator=(const gpu_stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class rival_solver {
 public:
  // Every GPU thread makes one, with its GPU the current one. `sums` may be null for one GPU.
  rival_solver(gpu_threads& t, int gpu, const local_rows& rows, ncclComm_t sums);

  // The product with the own rows alone, no exchange: seconds for each.
  std::vector<double> time_multiply(cusparseSpMVAlg_t how, int products, int repetitions);

  enum class method { standard, fused };
  // Sets x = 0 and what belongs to it, for b of ones and twos.
  void start(method how);
  // Puts iterations into the stream; a multiple of at_once.
  void iterate(method how, bool graph, index_t iterations);
  static constexpr index_t at_once = 10;
  void wait();
  // |r| / |b| by the recurrence.
  double residual(method how);
  const char* algorithm() const { return algorithm_ == CUSPARSE_SPMV_CSR_ALG1 ? "alg1" : "alg2"; }

 private:
  void link();
  void choose_algorithm();
  void iteration(method how, int parity);
  void record(method how);
  void sum_over_gpus(double* values, int count);
  double* scalar(int which) { return scalars_.data() + which; }

  struct graph_deleter {
    void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
  };
  using graph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, graph_deleter>;

  gpu_threads& threads_;
  int gpu_;
  index_t n_;
  ncclComm_t sums_;
  gpu_stream stream_;
  gpu_array<std::int32_t> row_start_, column_;
  gpu_array<double> value_;
  gpu_array<double> sent_;  // the vector that is multiplied by the matrix, the halo behind it
  gpu_array<double> b_, x_, other_, product_, s_;
  gpu_array<double> partial_, scalars_;
  gpu_array<unsigned> tickets_;
  gpu_array<unsigned long long> flags_;
  gpu_array<int> late_;
  std::vector<gpu_array<std::int32_t>> sent_index_;
  halo_links links_;
  cusparseSpMVAlg_t algorithm_ = CUSPARSE_SPMV_CSR_ALG2;
  std::unique_ptr<cusparse_multiply> multiply_;
  graph graphs_[2];
  double first_rr_ = 0;
};

}  // namespace starling::bench
