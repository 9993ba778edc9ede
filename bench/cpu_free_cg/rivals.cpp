// The rivals of the conjugate gradient benchmark, on the same matrices, in float64: cuSPARSE's product alone, and a
// host-controlled solver of cuSPARSE's product, halos by peer stores and NCCL's sums, by streams and by recorded
// graphs. Prints one JSON object a line; what fails is a line with "error", and the rest goes on.
//
//   rivals [--devices 1,2,4] [--repetitions 5] [--seconds 0.05] [--matrices TEXT,..]
//
// A GPU that does not finish ends the program, since its work cannot be taken back.
#include <cstdlib>
#include <map>
#include <thread>

#include "cases.hpp"
#include "command_line.hpp"
#include "json_line.hpp"
#include "rivals_solver.hpp"

namespace {

using namespace starling;
using namespace starling::bench;

struct plan {
  int repetitions;
  double seconds;
};

json_line described(const char* what, const matrix_case& c, const cg::csr_view<double>& a, int gpus) {
  json_line line(what);
  line.add("machine", "cuda").add("devices", gpus).add("matrix", c.name).add("stands_for", c.stands_for);
  return line.add("rows", a.rows).add("nonzeros", a.nonzeros());
}

// The communicators of the first GPUs.
class communicators {
 public:
  explicit communicators(int gpus) : all_(static_cast<std::size_t>(gpus)) {
    if (gpus > 1) check(ncclCommInitAll(all_.data(), gpus, nullptr), "ncclCommInitAll");
  }
  ~communicators() {
    for (const ncclComm_t one : all_)
      if (one != nullptr) ncclCommDestroy(one);
  }
  communicators(const communicators&) = delete;
  communicators& operator=(const communicators&) = delete;
  ncclComm_t of(int gpu) const { return all_[static_cast<std::size_t>(gpu)]; }

 private:
  std::vector<ncclComm_t> all_;
};

void let_peers_in(int gpu, int gpus) {
  for (int peer = 0; peer < gpus; ++peer) {
    if (peer == gpu) continue;
    const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled)
      cudaGetLastError();
    else
      check(status, "cudaDeviceEnablePeerAccess");
  }
}

void time_multiply(const matrix_case& c, const cg::csr_view<double>& a, rival_solver& s, const plan& p) {
  for (const auto& [how, name] : {std::pair{CUSPARSE_SPMV_CSR_ALG1, "alg1"}, {CUSPARSE_SPMV_CSR_ALG2, "alg2"}}) {
    const double once = std::max(1e-7, s.time_multiply(how, 5, 1)[0]);
    const int products = static_cast<int>(std::clamp(p.seconds / once, 5.0, 2000.0));
    std::vector<double> us = s.time_multiply(how, products, p.repetitions);
    for (double& one : us) one *= 1e6;
    described("rival multiply", c, a, 1).add("rival", "cusparse").add("algorithm", name).add("us", us).print();
  }
}

// One GPU's part of a repetition; the seconds of the slowest GPU.
double repetition(gpu_threads& t, int gpu, rival_solver& s, rival_solver::method how, bool graph, index_t iterations) {
  s.start(how);
  t.meet();
  const auto start = std::chrono::steady_clock::now();
  s.iterate(how, graph, iterations);
  s.wait();
  t.of[static_cast<std::size_t>(gpu)].seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  t.meet();
  double slowest = 0;
  for (const auto& one : t.of) slowest = std::max(slowest, one.seconds);
  t.meet();
  return slowest;
}

void time_iterations(const matrix_case& c, const cg::csr_view<double>& a, gpu_threads& t, int gpu, rival_solver& s,
                     const plan& p, rival_solver::method how, bool graph) {
  constexpr index_t at_once = rival_solver::at_once;
  repetition(t, gpu, s, how, graph, 2 * at_once);
  const double once = std::max(1e-7, repetition(t, gpu, s, how, graph, 2 * at_once) / (2.0 * at_once));
  const auto wanted_iterations = static_cast<index_t>(p.seconds / once);
  const index_t iterations = round_up(std::clamp<index_t>(wanted_iterations, 20, c.most_iterations), at_once);
  std::vector<double> us;
  for (int i = 0; i < p.repetitions; ++i)
    us.push_back(1e6 * repetition(t, gpu, s, how, graph, iterations) / static_cast<double>(iterations));
  const double residual = s.residual(how);
  if (gpu != 0) return;
  std::vector<index_t> halo;
  for (const auto& one : t.of) halo.push_back(static_cast<index_t>(one.rows->halo.size()));
  json_line line = described("rival cg", c, a, t.gpus());
  line.add("rival", t.gpus() > 1 ? "cusparse, peer stores, nccl" : "cusparse").add("algorithm", s.algorithm());
  line.add("method", how == rival_solver::method::standard ? "standard" : "fused");
  line.add("control", graph ? "graph" : "streams").add("iterations", iterations).add("us", us);
  line.add("halo", halo).add("residual", residual).print();
}

// What the thread of one GPU does.
void take_part(const matrix_case& c, const cg::csr_view<double>& a, gpu_threads& t, int gpu, const communicators& sums,
               const plan& p) {
  check(cudaSetDevice(gpu), "cudaSetDevice");
  let_peers_in(gpu, t.gpus());
  const local_rows rows = rows_of(a, first_rows(a, t.gpus()), gpu);
  rival_solver s(t, gpu, rows, sums.of(gpu));
  if (t.gpus() == 1) time_multiply(c, a, s, p);
  for (const auto how : {rival_solver::method::standard, rival_solver::method::fused})
    for (const bool graph : {false, true}) time_iterations(c, a, t, gpu, s, p, how, graph);
  t.meet();
}

void measure(const matrix_case& c, const cg::csr_view<double>& a, int gpus, const communicators& sums, const plan& p) {
  gpu_threads t(gpus);
  std::vector<std::jthread> threads;
  for (int gpu = 0; gpu < gpus; ++gpu)
    threads.emplace_back([&, gpu] {
      try {
        take_part(c, a, t, gpu, sums, p);
      } catch (const hung_error& e) {
        described("rival cg", c, a, gpus).add("error", message("GPU ", gpu, ": ", e.what())).print();
        std::_Exit(3);
      } catch (const std::exception& e) {
        t.fail(message("GPU ", gpu, ": ", e.what()));
      }
    });
  threads.clear();
  expect<error>(t.failure().empty(), t.failure());
}

}  // namespace

int main(int argc, char** argv) try {
  const command_line given(argc, argv, {"--devices", "--repetitions", "--seconds", "--matrices"});
  // Machines are shared, and NVLink multicast can disturb others.
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  int present = 0;
  check(cudaGetDeviceCount(&present), "cudaGetDeviceCount");
  const plan p{static_cast<int>(given.number("--repetitions", 5)), given.number("--seconds", 0.05)};
  std::map<int, communicators> sums;
  for (const int gpus : given.numbers("--devices", "1,2,4"))
    if (gpus <= std::min(present, most_gpus)) sums.try_emplace(gpus, gpus);
  for (const matrix_case& c : matrix_cases(false)) {
    if (!wanted(given.list("--matrices", ""), c.name)) continue;
    json_line("begin").add("matrix", c.name).print();
    const cg::csr<double> a = c.make();
    for (const auto& [gpus, communicators_of] : sums) try {
        measure(c, a.view(), gpus, communicators_of, p);
      } catch (const std::exception& e) {
        described("rival cg", c, a.view(), gpus).add("error", e.what()).print();
      }
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "rivals: %s\n", e.what());
  return 1;
}
