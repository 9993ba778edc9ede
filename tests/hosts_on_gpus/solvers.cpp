// The solvers on PEs of several hosts: the bits of a loop, small residuals. On GPUs their kernels must be built for it.
#include <cmath>
#include <cstring>
#include <random>

#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "jobs.hpp"
#include "pagerank/pagerank.hpp"
#include "support/cg_oracle.hpp"
#include "support/failure.hpp"
#include "support/graphs.hpp"
#include "support/stencil_runs.hpp"

namespace starling::test {
namespace {

struct place_of_job {
  std::vector<int> hosts;
  int pes;
};
const std::vector<place_of_job> jobs{{{0, 1}, 1}, {{0, 1}, 2}, {{0, 0, 1}, 1}};

#if defined(STARLING_SOLVERS_OF_HOSTS)
constexpr bool built = true;
#else
constexpr bool built = false;
#endif

// `work` on each of the jobs; where the kernels are not built for it, or cannot be, that this is said.
void check_on_all(const std::function<std::string(machine&)>& work, const std::string& impossible = {}) {
  for (const place_of_job& j : jobs) {
    CAPTURE(j.hosts.size());
    CAPTURE(j.pes);
    for (const std::string& text : on_all(j.hosts, j.pes, [&](machine& m) {
           const bool refused = m.kind() == machine_kind::cuda && (!built || !impossible.empty());
           return message(refused ? "refused: " : "", said([&] { return work(m); }));
         })) {
      if (text.rfind("refused: ", 0) == 0)
        check_parts(text, {"unsupported_error", impossible.empty() ? "-DSTARLING_NETWORK=ON" : impossible});
      else
        CHECK(text == "all right");
    }
  }
}

// Of every process the same, from a seed.
template <class T>
std::string stencil_bits(machine& m, const stencil::problem<T>& p, const stencil::run_options& o) {
  std::mt19937 draw(17);
  const std::vector<T> u = random_cells(p, draw);
  std::vector<T> expected = u;
  stencil::reference(p, expected, o.steps);
  stencil::solver<T> s(m, p);
  s.load(u.data());
  s.advance(o);
  std::vector<T> got(u.size(), std::numeric_limits<T>::quiet_NaN());
  s.store(got.data());
  const bool same = std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)) == 0;
  return same ? "all right" : describe(p, o) + ": other bits";
}

TEST_CASE("stencils of two and three dimensions") {
  for (const auto& [how, packet_bytes] :
       std::vector<std::pair<stencil::variant, index_t>>{{stencil::variant::cpu_free, 0},
                                                         {stencil::variant::cpu_free, 1 << 20},
                                                         {stencil::variant::resident, -1},
                                                         {stencil::variant::temporal, -1}}) {
    const stencil::run_options o{.how = how, .steps = 25, .packet_bytes = packet_bytes};
    CAPTURE(std::string(stencil::name(how)));
    CAPTURE(packet_bytes);
    check_on_all([&](machine& m) {
      const stencil::problem<float> p{.shape = {37, 29},
                                      .coefficients = {0.2f, 0.21f, 0.19f, 0.22f, 0.18f},
                                      .edges = {stencil::edge::periodic, stencil::edge::fixed},
                                      .parts = {m.size(), 1}};
      return stencil_bits(m, p, o);
    });
    if (how != stencil::variant::temporal)
      check_on_all([&](machine& m) {
        const stencil::problem<double> p{.shape = {9, 11, 13},
                                         .coefficients = {0.1, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16},
                                         .edges = std::vector(3, stencil::edge::fixed),
                                         .parts = {1, m.size(), 1}};
        return stencil_bits(m, p, o);
      });
  }
}

TEST_CASE("conjugate gradients") {
  check_on_all([](machine& m) {
    random r(3);
    const auto a = cg::grid_2d<double>(23, 31);
    const index_t n = static_cast<index_t>(a.row_start.size()) - 1;
    vector b(static_cast<std::size_t>(n));
    for (double& x : b) x = static_cast<double>(r.below(1000)) / 1000 - 0.5;
    for (const cg::method how : {cg::method::standard, cg::method::fused, cg::method::pipelined}) {
      cg::solver<double> s(m, a.view());
      vector x(b.size(), 0.0);
      const cg::solve_result done = s.solve(b.data(), x.data(), {.how = how, .rtol = 1e-9});
      const double left = norm(residual(a, b, x));
      if (left > 1.1e-9 * norm(b)) return message(cg::name(how), ": ", cg::name(done.why), ", residual ", left);
    }
    return std::string("all right");
  });
}

TEST_CASE("PageRank, by the agents that send") {
  for (const region_agent agent : {region_agent::polling, region_agent::own_warp}) {
    const auto work = [agent](machine& m) {
      random r(5);
      const index_t vertices = 301;
      const sparse::csr<double> a = random_edges_in<double>(r, vertices, 5 * vertices, 9);
      const auto out = weights_out(a, true);
      const auto ranks_on = [&](machine& on) {
        std::vector<double> ranks(static_cast<std::size_t>(vertices), 1.0 / static_cast<double>(vertices));
        pagerank::solver<double> s(on, a.view(), out.data(), {.agent = agent, .chunk_bytes = 256});
        s.solve(ranks.data(), nullptr, nullptr, {.max_iterations = 40, .fixed = true});
        return ranks;
      };
      const auto got = ranks_on(m);
      machine alone = machine::host(1);
      const auto expected = ranks_on(alone);
      for (std::size_t i = 0; i < got.size(); ++i)
        if (!(std::abs(got[i] - expected[i]) <= 1e-13))
          return message("vertex ", i, ": ", got[i], ", not ", expected[i]);
      return std::string("all right");
    };
    check_on_all(work, agent == region_agent::own_warp ? "own_warp, whose stores do not reach PE" : "");
  }
}

TEST_CASE("agents that do not reach other hosts from GPUs say so") {
  for (const auto& [agent, text_of] : std::vector<std::pair<region_agent, std::string>>{
           {region_agent::inline_stores, "inline_stores"}, {region_agent::own_warp, "own_warp"}})
    for (const std::string& text : on_all({0, 1}, 1, [agent = agent](machine& m) {
           return message(m.kind() == machine_kind::cuda ? "on GPUs " : "", said([&] {
                            const region<int> x(m, 1000, {.agent = agent});
                            return "made";
                          }));
         })) {
      if (text.rfind("on GPUs", 0) == 0)
        check_parts(text, {"unsupported_error", text_of, "take polling"});
      else
        CHECK(text == "made");
    }
}

}  // namespace
}  // namespace starling::test
