// The kernels of the host-controlled rival beside cuSPARSE's product: the exchange of halos by stores into the peers'
// memory, and the updates of vectors with the sums they need. Scalars stay on the GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "starling/base/index.hpp"

namespace starling::bench {

inline constexpr int most_gpus = 8;

// What a GPU sends and whom it waits for. Lives in its memory's pointers and those of its peers.
struct halo_links {
  int gpus = 1;
  const std::int32_t* index[most_gpus] = {};            // of the values for each GPU
  std::int32_t count[most_gpus] = {};                   // how many
  double* there[most_gpus] = {};                        // where they go
  unsigned long long* flag_there[most_gpus] = {};       // raised behind them
  const unsigned long long* flag_here[most_gpus] = {};  // null: nothing comes from that GPU
  unsigned long long* epoch = nullptr;                  // exchanges done
  unsigned* ticket = nullptr;                           // blocks done
  int* late = nullptr;                                  // set when a wait passed its deadline
  int blocks = 1;
};

// Room for sums over all blocks.
struct sum_room {
  double* partial;
  unsigned* ticket;
};
inline constexpr int sum_blocks = 264;
inline constexpr int most_sums = 2;

// Sends values of x and waits for those of the others.
void exchange(const halo_links& links, const double* x, cudaStream_t stream);

// sum[0] = a . b
void dot(index_t n, const double* a, const double* b, sum_room room, double* sum, cudaStream_t stream);
// sum[0] = r . r, sum[1] = r . w
void two_dots(index_t n, const double* r, const double* w, sum_room room, double* sum, cudaStream_t stream);

// Hestenes and Stiefel. alpha = *rr / *pq; x += alpha p; r -= alpha q; sum[0] = r . r
void advance_standard(index_t n, const double* rr, const double* pq, const double* p, const double* q, double* x,
                      double* r, sum_room room, double* sum, cudaStream_t stream);
// p = r + (*rr_new / *rr) p
void turn(index_t n, const double* rr_new, const double* rr, const double* r, double* p, cudaStream_t stream);

// Chronopoulos and Gear. From gamma = r . r and delta = r . w now and those of the last iteration: beta, alpha, and
// p = r + beta p; s = w + beta s; x += alpha p; r -= alpha s. alpha_before is 0 in the first iteration.
struct fused_scalars {
  const double* now;     // gamma, delta
  const double* before;  // gamma
  const double* alpha_before;
  double* alpha;
};
void advance_fused(index_t n, fused_scalars scalars, const double* w, double* p, double* s, double* x, double* r,
                   cudaStream_t stream);

}  // namespace starling::bench
