#include "rivals_solver.hpp"

#include <algorithm>
#include <cmath>

namespace starling::bench {
namespace {

constexpr std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

// Where the scalars lie. Those of the last iteration have the other parity.
constexpr int pq = 0;
constexpr int rr(int parity) { return 1 + parity; }
constexpr int gamma_delta(int parity) { return 4 + 2 * parity; }
constexpr int alpha(int parity) { return 8 + parity; }
constexpr index_t all_scalars = 16;

std::vector<double> right_hand_side(index_t first, index_t n) {
  std::vector<double> b(at(n));
  for (index_t i = 0; i < n; ++i) b[at(i)] = 1.0 + static_cast<double>((first + i) * 7919 % 1000) / 1000;
  return b;
}

}  // namespace

rival_solver::rival_solver(gpu_threads& t, int gpu, const local_rows& rows, ncclComm_t sums)
    : threads_(t),
      gpu_(gpu),
      n_(rows.rows()),
      sums_(sums),
      row_start_(rows.start),
      column_(rows.column),
      value_(rows.value, rows.entries()),
      sent_(n_ + static_cast<index_t>(rows.halo.size())),
      b_(right_hand_side(rows.first, n_)),
      x_(n_),
      other_(n_),
      product_(n_),
      s_(n_),
      partial_(index_t{most_sums} * sum_blocks),
      scalars_(all_scalars),
      tickets_(2),
      flags_(most_gpus + 1),
      late_(1) {
  auto& mine = threads_.of[at(gpu)];
  mine.rows = &rows;
  mine.halo = sent_.data() + n_;
  mine.flags = flags_.data();
  threads_.meet();
  link();
  choose_algorithm();
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  threads_.meet();
}

// Finds out what the others need of this GPU, and where they want it.
void rival_solver::link() {
  links_.gpus = threads_.gpus();
  links_.epoch = flags_.data() + most_gpus;
  links_.ticket = tickets_.data();
  links_.late = late_.data();
  const index_t first = threads_.of[at(gpu_)].rows->first;
  index_t most = 1;
  for (int g = 0; g < threads_.gpus(); ++g) {
    const auto& their = threads_.of[at(g)];
    const index_t begin = their.rows->halo_of_owner[at(gpu_)];
    const index_t end = their.rows->halo_of_owner[at(gpu_) + 1];
    std::vector<std::int32_t> index;
    for (index_t k = begin; k < end; ++k) index.push_back(static_cast<std::int32_t>(their.rows->halo[at(k)] - first));
    sent_index_.emplace_back(index);
    links_.index[g] = sent_index_.back().data();
    links_.count[g] = static_cast<std::int32_t>(end - begin);
    links_.there[g] = their.halo + begin;
    links_.flag_there[g] = their.flags + gpu_;
    const auto& mine = *threads_.of[at(gpu_)].rows;
    if (mine.halo_of_owner[at(g) + 1] > mine.halo_of_owner[at(g)]) links_.flag_here[g] = flags_.data() + g;
    most = std::max(most, end - begin);
  }
  links_.blocks = static_cast<int>(std::min<index_t>(ceil_div(most, 512), 132));
}

std::vector<double> rival_solver::time_multiply(cusparseSpMVAlg_t how, int products, int repetitions) {
  cusparse_multiply multiply(stream_, row_start_, column_, value_, sent_.size(), sent_.data(), product_.data(), how);
  std::vector<double> seconds;
  for (int i = 0; i <= repetitions; ++i) {
    wait_for(stream_);
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < products; ++k) multiply();
    wait_for(stream_);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (i > 0) seconds.push_back(took.count() / products);
  }
  return seconds;
}

void rival_solver::choose_algorithm() {
  double least = 1e9;
  for (const auto how : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
    const std::vector<double> seconds = time_multiply(how, 5, 2);
    const double best = *std::min_element(seconds.begin(), seconds.end());
    if (best < least) algorithm_ = how;
    least = std::min(least, best);
  }
  multiply_ = std::make_unique<cusparse_multiply>(stream_, row_start_, column_, value_, sent_.size(), sent_.data(),
                                                  product_.data(), algorithm_);
}

void rival_solver::sum_over_gpus(double* values, int count) {
  if (threads_.gpus() == 1) return;
  check(ncclAllReduce(values, values, static_cast<std::size_t>(count), ncclDouble, ncclSum, sums_, stream_),
        "ncclAllReduce");
}

void rival_solver::start(method how) {
  const auto copy = [&](gpu_array<double>& to, const gpu_array<double>& from) {
    check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
  };
  for (gpu_array<double>* zero : {&x_, &other_, &s_, &scalars_})
    check(cudaMemsetAsync(zero->data(), 0, zero->bytes(), stream_), "cudaMemsetAsync");
  copy(sent_, b_);
  if (how == method::standard) copy(other_, b_);
  const sum_room room{partial_.data(), tickets_.data() + 1};
  dot(n_, b_.data(), b_.data(), room, scalar(rr(0)), stream_);
  sum_over_gpus(scalar(rr(0)), 1);
  wait();
  first_rr_ = scalars_.values()[at(rr(0))];
}

// Standard: `sent_` is p, `other_` r. Fused: `sent_` is r, `other_` p.
void rival_solver::iteration(method how, int parity) {
  const sum_room room{partial_.data(), tickets_.data() + 1};
  if (threads_.gpus() > 1) exchange(links_, sent_.data(), stream_);
  (*multiply_)();
  if (how == method::standard) {
    dot(n_, sent_.data(), product_.data(), room, scalar(pq), stream_);
    sum_over_gpus(scalar(pq), 1);
    advance_standard(n_, scalar(rr(parity)), scalar(pq), sent_.data(), product_.data(), x_.data(), other_.data(), room,
                     scalar(rr(1 - parity)), stream_);
    sum_over_gpus(scalar(rr(1 - parity)), 1);
    turn(n_, scalar(rr(1 - parity)), scalar(rr(parity)), other_.data(), sent_.data(), stream_);
  } else {
    two_dots(n_, sent_.data(), product_.data(), room, scalar(gamma_delta(parity)), stream_);
    sum_over_gpus(scalar(gamma_delta(parity)), 2);
    const fused_scalars scalars{scalar(gamma_delta(parity)), scalar(gamma_delta(1 - parity)), scalar(alpha(1 - parity)),
                                scalar(alpha(parity))};
    advance_fused(n_, scalars, product_.data(), other_.data(), s_.data(), x_.data(), sent_.data(), stream_);
  }
}

void rival_solver::record(method how) {
  cudaGraph_t recorded = nullptr;
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  for (int i = 0; i < at_once; ++i) iteration(how, i % 2);
  check(cudaStreamEndCapture(stream_, &recorded), "cudaStreamEndCapture");
  cudaGraphExec_t exec = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&exec, recorded, 0);
  cudaGraphDestroy(recorded);
  check(status, "cudaGraphInstantiate");
  graphs_[static_cast<int>(how)].reset(exec);
}

void rival_solver::iterate(method how, bool as_graph, index_t iterations) {
  graph& recorded = graphs_[static_cast<int>(how)];
  if (as_graph && recorded == nullptr) record(how);
  if (!as_graph) {
    for (index_t i = 0; i < iterations; ++i) iteration(how, static_cast<int>(i % 2));
    return;
  }
  for (index_t i = 0; i < iterations; i += at_once) check(cudaGraphLaunch(recorded.get(), stream_), "cudaGraphLaunch");
}

void rival_solver::wait() {
  wait_for(stream_);
  expect<device_error>(late_.values()[0] == 0, "a halo has not come after 2 s");
}

double rival_solver::residual(method how) {
  wait();
  const std::vector<double> s = scalars_.values();
  // Fused: of one iteration before.
  const double now = how == method::standard ? s[at(rr(0))] : s[at(gamma_delta(1))];
  return std::sqrt(now / first_rr_);
}

}  // namespace starling::bench
