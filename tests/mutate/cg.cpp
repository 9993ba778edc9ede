// The persistent programs of conjugate gradients on small systems: all methods, with and without several products
// between two sums, chains of blocks that drift apart, several columns, and launches that go on from one another. The
// bits must be those of a machine that runs freely.
#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "trial.hpp"

namespace {

namespace cg = st::cg;

// Points in a line, each joined to its neighbours.
cg::csr<double> line(st::index_t n) {
  cg::csr<double> a;
  a.columns = n;
  for (st::index_t i = 0; i < n; ++i) {
    for (st::index_t j = std::max<st::index_t>(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
      a.column.push_back(static_cast<std::int32_t>(j));
      a.value.push_back(i == j ? 2 : -1);
    }
    a.row_start.push_back(static_cast<st::index_t>(a.column.size()));
  }
  return a;
}

// Points that are all joined to the first one and to the one in the middle: all blocks read what one has.
cg::csr<double> hubs(st::index_t n) {
  cg::csr<double> a;
  a.columns = n;
  const auto hub = [n](st::index_t i) { return i == 0 || i == n / 2; };
  for (st::index_t i = 0; i < n; ++i) {
    for (st::index_t j = 0; j < n; ++j)
      if (i == j || hub(i) || hub(j)) {
        a.column.push_back(static_cast<std::int32_t>(j));
        a.value.push_back(i == j ? (hub(i) ? static_cast<double>(n) : 3) : -1);
      }
    a.row_start.push_back(static_cast<st::index_t>(a.column.size()));
  }
  return a;
}

// What else there is to a solve.
struct variation {
  bool each = false;  // in stretches
  cg::storage how = cg::storage::automatic;
  st::index_t columns = 1;
};

std::vector<double> solved(st::machine& m, const cg::csr<double>& a, const cg::solve_options& o, const variation& v) {
  cg::solver<double> s(m, a.view(), {.how = v.how, .block_size = 4});
  const auto n = static_cast<std::size_t>(a.rows() * v.columns);
  std::vector<double> b(n), x(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<double>(i * 37 % 101);
  const auto watch = v.each ? [](const cg::progress&) { return true; } : std::function<bool(const cg::progress&)>();
  for (int solve = 0; solve < 2; ++solve) (void)s.solve_columns(b.data(), x.data(), v.columns, o, watch, v.each);
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<trial::trial_case> cases;
  const auto add = [&](const std::string& name, int pes, const cg::csr<double>& a, const cg::solve_options& o,
                       const variation& v = {}) {
    cases.push_back({name, pes, [=](st::machine& m) {
                       st::machine freely = st::machine::host(pes);
                       if (solved(m, a, o, v) != solved(freely, a, o, v))
                         throw trial::wrong_result("other values than without check mode");
                     }});
  };
  for (const auto how : {cg::method::standard, cg::method::fused, cg::method::pipelined}) {
    const std::string name = st::message(cg::name(how), ", ");
    const auto few = [&](cg::preconditioner p, int blocks) {
      return cg::solve_options{.how = how, .m = p, .degree = 3, .max_iterations = 3, .fixed = true, .blocks = blocks};
    };
    add(name + "2 PEs", 2, cg::grid_2d<double>(8, 12), few(cg::preconditioner::jacobi, 2));
    add(name + "3 PEs", 3, line(161), few(cg::preconditioner::none, 2));
    add(name + "several products between two sums", 2, line(250), few(cg::preconditioner::chebyshev, 4));
    add(name + "a polynomial on 3 PEs", 3, line(97), few(cg::preconditioner::chebyshev, 1));
    add(name + "values that all blocks read", 2, hubs(192), few(cg::preconditioner::none, 2),
        {.how = cg::storage::sliced});
    add(name + "blocks on the diagonal", 2, cg::grid_2d<double>(8, 6), few(cg::preconditioner::block_jacobi, 2));
    cg::solve_options by_host = few(cg::preconditioner::jacobi, 2);
    by_host.who = cg::control::streams;
    add(name + "controlled by the host", 2, cg::grid_2d<double>(8, 6), by_host);
    add(name + "in stretches", 2, cg::grid_2d<double>(9, 8), few(cg::preconditioner::none, 2), {.each = true});
    add(name + "several columns", 2, cg::grid_2d<double>(8, 6), few(cg::preconditioner::jacobi, 2), {.columns = 3});
  }
  return trial::all(argc, argv, cases);
}
