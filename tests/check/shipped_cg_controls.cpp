// Conjugate gradients that the host controls pass check mode, with the result of a machine without it.
// STARLING_PROTOCOL_SEEDS: how many schedules each is explored under.
#include <cstdlib>
#include <random>

#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "support/checked.hpp"

namespace starling::test::shipped_cg_controls_tests {
namespace {

std::uint64_t seeds() {
  const char* text = std::getenv("STARLING_PROTOCOL_SEEDS");
  return text == nullptr ? 16 : std::strtoull(text, nullptr, 10);
}

void check_control(int n_pes, cg::storage how, cg::solve_options o) {
  const cg::csr<double> a = cg::grid_2d<double>(12, 9);
  std::vector<double> b(static_cast<std::size_t>(a.rows()));
  std::mt19937 random(1);
  for (double& v : b) v = std::uniform_real_distribution<double>(-1, 1)(random);
  const auto solved = [&](machine m) {
    cg::solver<double> s(std::move(m), a.view(), {.first_rows = {}, .how = how, .block_size = 3});
    std::vector<double> x(b.size());
    const cg::solve_result r = s.solve(b.data(), x.data(), o);
    x.insert(x.end(), r.history.begin(), r.history.end());
    return x;
  };
  machine m = checked_machine(n_pes, seeds());
  const std::vector<double> got = solved(m);
  CHECK(m.checked().accesses_seen);
  o.who = cg::control::cpu_free;
  CHECK(got == solved(machine::host(n_pes)));
}

TEST_CASE("conjugate gradients of the host's: methods, preconditioners, numbers of PEs and blocks") {
  for (const cg::control who : {cg::control::streams, cg::control::graph})
    for (const cg::method how : {cg::method::standard, cg::method::fused, cg::method::pipelined})
      for (const int n_pes : {1, 2, 3})
        for (const cg::preconditioner m :
             {cg::preconditioner::jacobi, cg::preconditioner::block_jacobi, cg::preconditioner::chebyshev}) {
          CAPTURE(std::string(cg::name(who)));
          CAPTURE(std::string(cg::name(how)));
          CAPTURE(std::string(cg::name(m)));
          CAPTURE(n_pes);
          const cg::storage stored = n_pes == 2 ? cg::storage::compressed : cg::storage::sliced;
          check_control(
              n_pes, stored,
              {.how = how, .who = who, .m = m, .rtol = 1e-9, .max_iterations = 18, .replace_every = 8, .blocks = 2});
        }
}

}  // namespace
}  // namespace starling::test::shipped_cg_controls_tests
