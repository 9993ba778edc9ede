#include "rivals_kernels.hpp"

#include <cuda/atomic>

#include "rivals_support.hpp"

namespace starling::bench {
namespace {

constexpr int threads = 512;
constexpr long long wait_cycles = 4'000'000'000;  // about 2 s

__device__ index_t first_item() { return static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ index_t items_apart() { return static_cast<index_t>(gridDim.x) * blockDim.x; }

// Whether the calling block is the last one to come here; what the others wrote before is then visible.
__device__ bool last_block(unsigned* ticket, bool for_peers) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (for_peers)
      __threadfence_system();
    else
      __threadfence();
    last = atomicAdd(ticket, 1U) == gridDim.x - 1;
    if (last) *ticket = 0;
    __threadfence();
  }
  __syncthreads();
  return last;
}

__global__ void exchange_kernel(halo_links l, const double* x) {
  for (int g = 0; g < l.gpus; ++g)
    for (index_t i = first_item(); i < l.count[g]; i += items_apart()) l.there[g][i] = x[l.index[g][i]];
  if (!last_block(l.ticket, true)) return;
  const unsigned long long epoch = *l.epoch + 1;
  __syncthreads();
  if (threadIdx.x == 0) *l.epoch = epoch;
  const int g = static_cast<int>(threadIdx.x);
  if (g >= l.gpus) return;
  using flag = cuda::atomic_ref<unsigned long long, cuda::thread_scope_system>;
  if (l.count[g] > 0) flag(*l.flag_there[g]).store(epoch, cuda::memory_order_release);
  if (l.flag_here[g] == nullptr) return;
  flag arrived(*const_cast<unsigned long long*>(l.flag_here[g]));
  const long long start = clock64();
  while (arrived.load(cuda::memory_order_acquire) < epoch) {
    if (clock64() - start < wait_cycles) continue;
    *l.late = 1;
    return;
  }
}

// Adds up the values of all threads of the grid, always in the same order.
template <int N>
__device__ void sum_over_grid(double (&v)[N], sum_room room, double* sum) {
  __shared__ double warps[N][threads / 32];
  const auto over_block = [&] {
    for (int k = 0; k < N; ++k) {
      for (int apart = 16; apart > 0; apart /= 2) v[k] += __shfl_down_sync(~0U, v[k], apart);
      if (threadIdx.x % 32 == 0) warps[k][threadIdx.x / 32] = v[k];
    }
    __syncthreads();
    for (int k = 0; k < N && threadIdx.x < 32; ++k) {
      v[k] = threadIdx.x < threads / 32 ? warps[k][threadIdx.x] : 0;
      for (int apart = 16; apart > 0; apart /= 2) v[k] += __shfl_down_sync(~0U, v[k], apart);
    }
  };
  over_block();
  if (threadIdx.x == 0)
    for (int k = 0; k < N; ++k) room.partial[k * sum_blocks + blockIdx.x] = v[k];
  if (!last_block(room.ticket, false)) return;
  for (int k = 0; k < N; ++k) v[k] = threadIdx.x < gridDim.x ? __ldcg(&room.partial[k * sum_blocks + threadIdx.x]) : 0;
  over_block();
  if (threadIdx.x == 0)
    for (int k = 0; k < N; ++k) sum[k] = v[k];
}
static_assert(sum_blocks <= threads);

__global__ void __launch_bounds__(threads)
    dot_kernel(index_t n, const double* a, const double* b, sum_room room, double* sum) {
  double v[1] = {0};
  for (index_t i = first_item(); i < n; i += items_apart()) v[0] += a[i] * b[i];
  sum_over_grid(v, room, sum);
}

__global__ void __launch_bounds__(threads)
    two_dots_kernel(index_t n, const double* r, const double* w, sum_room room, double* sum) {
  double v[2] = {0, 0};
  for (index_t i = first_item(); i < n; i += items_apart()) {
    v[0] += r[i] * r[i];
    v[1] += r[i] * w[i];
  }
  sum_over_grid(v, room, sum);
}

__global__ void __launch_bounds__(threads)
    advance_standard_kernel(index_t n, const double* rr, const double* pq, const double* p, const double* q, double* x,
                            double* r, sum_room room, double* sum) {
  const double alpha = *rr / *pq;
  double v[1] = {0};
  for (index_t i = first_item(); i < n; i += items_apart()) {
    x[i] += alpha * p[i];
    const double ri = r[i] - alpha * q[i];
    r[i] = ri;
    v[0] += ri * ri;
  }
  sum_over_grid(v, room, sum);
}

__global__ void __launch_bounds__(threads)
    turn_kernel(index_t n, const double* rr_new, const double* rr, const double* r, double* p) {
  const double beta = *rr_new / *rr;
  for (index_t i = first_item(); i < n; i += items_apart()) p[i] = r[i] + beta * p[i];
}

__global__ void __launch_bounds__(threads)
    advance_fused_kernel(index_t n, fused_scalars f, const double* w, double* p, double* s, double* x, double* r) {
  const double gamma = f.now[0];
  const double delta = f.now[1];
  const double alpha_before = *f.alpha_before;
  const bool first = alpha_before == 0;
  const double beta = first ? 0 : gamma / *f.before;
  const double alpha = gamma / (first ? delta : delta - beta * gamma / alpha_before);
  if (first_item() == 0) *f.alpha = alpha;
  for (index_t i = first_item(); i < n; i += items_apart()) {
    const double pi = r[i] + beta * p[i];
    const double si = w[i] + beta * s[i];
    p[i] = pi;
    s[i] = si;
    x[i] += alpha * pi;
    r[i] -= alpha * si;
  }
}

void launched() { check(cudaGetLastError(), "a launch"); }

}  // namespace

void exchange(const halo_links& links, const double* x, cudaStream_t stream) {
  exchange_kernel<<<static_cast<unsigned>(links.blocks), 256, 0, stream>>>(links, x);
  launched();
}

void dot(index_t n, const double* a, const double* b, sum_room room, double* sum, cudaStream_t stream) {
  dot_kernel<<<sum_blocks, threads, 0, stream>>>(n, a, b, room, sum);
  launched();
}

void two_dots(index_t n, const double* r, const double* w, sum_room room, double* sum, cudaStream_t stream) {
  two_dots_kernel<<<sum_blocks, threads, 0, stream>>>(n, r, w, room, sum);
  launched();
}

void advance_standard(index_t n, const double* rr, const double* pq, const double* p, const double* q, double* x,
                      double* r, sum_room room, double* sum, cudaStream_t stream) {
  advance_standard_kernel<<<sum_blocks, threads, 0, stream>>>(n, rr, pq, p, q, x, r, room, sum);
  launched();
}

void turn(index_t n, const double* rr_new, const double* rr, const double* r, double* p, cudaStream_t stream) {
  turn_kernel<<<sum_blocks, threads, 0, stream>>>(n, rr_new, rr, r, p);
  launched();
}

void advance_fused(index_t n, fused_scalars scalars, const double* w, double* p, double* s, double* x, double* r,
                   cudaStream_t stream) {
  advance_fused_kernel<<<sum_blocks, threads, 0, stream>>>(n, scalars, w, p, s, x, r);
  launched();
}

}  // namespace starling::bench
