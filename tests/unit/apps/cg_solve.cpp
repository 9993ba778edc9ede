// Solves of linear systems by every method, with every preconditioner, in every storage, on every number of PEs and
// blocks, against a plain solve; and what is promised of histories, watching, and starting points.
#include <doctest/doctest.h>

#include <limits>

#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "support/cg_oracle.hpp"
#include "support/test_machine.hpp"

namespace starling {
namespace {

using cg::csr;
using cg::method;
using cg::preconditioner;
using cg::solve_options;
using cg::solve_result;
using cg::storage;

constexpr method methods[] = {method::standard, method::fused, method::pipelined};
constexpr preconditioner preconditioners[] = {preconditioner::none, preconditioner::jacobi,
                                              preconditioner::block_jacobi, preconditioner::chebyshev};
constexpr storage storages[] = {storage::sliced, storage::sliced_3x3, storage::compressed};

// What a solve left behind.
template <class T>
struct outcome {
  solve_result result;
  std::vector<T> x;

  bool same_as(const outcome& other) const {
    return x == other.x && result.why == other.result.why && result.iterations == other.result.iterations &&
           result.residual == other.result.residual && result.history == other.result.history &&
           result.replacements == other.result.replacements;
  }
};

template <class T>
outcome<T> solved(cg::solver<T>& s, const test::vector& b, const solve_options& o, std::vector<T> x = {},
                  const std::function<bool(const cg::progress&)>& watch = {}, bool each = false) {
  x.resize(b.size(), T{0});
  const auto rhs = test::as<T>(b);
  solve_result r = s.solve(rhs.data(), x.data(), o, watch, each);
  return {std::move(r), std::move(x)};
}

// What holds for every solve that has converged.
template <class T>
void check_converged(const csr<T>& a, const test::vector& b, const outcome<T>& got) {
  const solve_result& r = got.result;
  CHECK(std::string(name(r.why)) == "converged");
  CHECK(r.history.size() == static_cast<std::size_t>(r.iterations) + 1);
  CHECK(r.residual <= r.target * (1 + 1e-6));
  CHECK(r.history.back() <= r.target);
  const double truth = test::norm(test::residual(a, test::doubles(test::as<T>(b)), test::doubles(got.x)));
  const double rounding = sizeof(T) == 4 ? 0.05 * r.target : 1e-3 * r.target;
  CHECK(truth <= r.target + rounding);
  CHECK(std::abs(truth - r.residual) <= rounding);
  CHECK(r.seconds > 0);
  CHECK(r.blocks >= 1);
  CHECK(r.threads >= 1);
}

void check_iterations(index_t got, index_t wanted) {
  CHECK(static_cast<double>(std::abs(got - wanted)) <= 0.05 * static_cast<double>(wanted) + 2);
}

// A system, solved plainly with each preconditioner once for each way of dealing rows.
template <class T>
class known_system {
 public:
  known_system(csr<T> matrix, index_t size, double tolerance)
      : a(std::move(matrix)),
        block_size(size),
        rtol(tolerance),
        b(test::doubles(test::as<T>(test::random_vector(a.rows(), 3)))) {}

  const test::oracle_result& wanted(const solve_options& o, const std::vector<index_t>& first_rows) {
    const std::vector<index_t> dealt =
        o.m == preconditioner::block_jacobi ? first_rows : std::vector<index_t>{0, a.rows()};
    const auto [at, is_new] = known_.try_emplace({o.m, dealt});
    if (is_new) {
      const test::oracle_preconditioner<T> m(a, o, block_size, dealt);
      at->second = test::oracle_solve(a, b, test::vector(b.size(), 0.0), m, rtol * test::norm(b), 5000);
    }
    return at->second;
  }

  const csr<T> a;
  const index_t block_size;
  const double rtol;
  const test::vector b;

 private:
  std::map<std::pair<preconditioner, std::vector<index_t>>, test::oracle_result> known_;
};

// All methods and preconditioners, for `blocks` in turn.
template <class T>
void check_all(known_system<T>& system, machine& m, storage how, const std::vector<int>& blocks) {
  cg::solver<T> s(m, system.a.view(), {.how = how, .block_size = system.block_size});
  for (const int n : blocks)
    for (const preconditioner p : preconditioners)
      for (const method by : methods) {
        CAPTURE(m.size());
        CAPTURE(std::string(name(how)));
        CAPTURE(n);
        CAPTURE(std::string(name(p)));
        CAPTURE(std::string(name(by)));
        const solve_options o{.how = by, .m = p, .rtol = system.rtol, .blocks = n};
        const outcome<T> got = solved(s, system.b, o);
        check_converged(system.a, system.b, got);
        CHECK(got.result.blocks == n);
        CHECK(std::abs(got.result.history[0] - test::norm(system.b)) < 1e-5 * test::norm(system.b));
        const auto& wanted = system.wanted(o, s.facts().first_rows);
        check_iterations(got.result.iterations, wanted.iterations);
        // The first steps are those of any conjugate gradients.
        for (std::size_t i = 0; i < std::min<std::size_t>(6, got.result.history.size()); ++i)
          CHECK(std::abs(got.result.history[i] - wanted.history[i]) <
                (sizeof(T) == 4 ? 1e-3 : 1e-9) * wanted.history[i] +
                    (sizeof(T) == 4 ? 1e-6 : 1e-12) * wanted.history[0]);
      }
}

TEST_CASE("blocks of 3 x 3, all methods, preconditioners, storages, PEs and blocks") {
  known_system<double> system(cg::elasticity_3d<double>(4, 4, 4), 3, 1e-3);
  for (const int n_pes : {1, 2, 3, 4}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (!m) continue;
    std::size_t turn = static_cast<std::size_t>(n_pes);
    constexpr int blocks[] = {1, 3, 5, 2};
    for (const storage how : storages) check_all(system, *m, how, {blocks[turn++ % 4]});
  }
}

TEST_CASE("a grid of many slices") {
  known_system<double> system(cg::grid_2d<double>(26, 22), 4, 1e-6);
  for (const int n_pes : {1, 2, 4}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (m) check_all(system, *m, storage::sliced, n_pes == 2 ? std::vector{1, 2, 3, 5} : std::vector{5});
  }
}

TEST_CASE("uneven rows, and nets of a circuit") {
  known_system<double> uneven(cg::uneven<double>(500, 5, 4), 2, 1e-5);
  known_system<double> nets(test::compressed<double>(test::random_system(200, 3, 9)), 6, 1e-9);
  for (const int n_pes : {2, 3}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (!m) continue;
    check_all(uneven, *m, storage::automatic, {3});
    check_all(nets, *m, storage::compressed, {2});
  }
}

TEST_CASE("single precision") {
  known_system<float> system(cg::grid_2d<float>(15, 12), 6, 1e-4);
  for (const int n_pes : {1, 3}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (!m) continue;
    for (const storage how : storages) check_all(system, *m, how, {n_pes});
  }
}

TEST_CASE("fewer rows than PEs, slices or blocks") {
  for (const index_t n : {1, 2, 5, 33}) {
    known_system<double> system(test::compressed<double>(test::random_system(n, 2, 5)), 1, 1e-10);
    for (const int n_pes : {1, 4}) {
      std::optional<machine> m = test::test_machine(n_pes);
      if (m) check_all(system, *m, n == 5 ? storage::compressed : storage::sliced, {5});
    }
  }
}

TEST_CASE("PEs without rows") {
  known_system<double> system(cg::grid_2d<double>(12, 8), 8, 1e-9);
  const std::vector<std::vector<index_t>> dealt = {
      {0, 0, 96}, {0, 96, 96}, {0, 48, 48, 96}, {0, 0, 0, 96}, {0, 8, 8, 96, 96}};
  for (const auto& first_rows : dealt) {
    std::optional<machine> m = test::test_machine(static_cast<int>(first_rows.size()) - 1);
    if (!m) continue;
    for (const storage how : {storage::sliced, storage::compressed}) {
      cg::solver<double> s(*m, system.a.view(), {.first_rows = first_rows, .how = how, .block_size = 8});
      for (const method by : methods)
        for (const preconditioner p : preconditioners) {
          const solve_options o{.how = by, .m = p, .rtol = system.rtol, .blocks = 2};
          const outcome<double> got = solved(s, system.b, o);
          check_converged(system.a, system.b, got);
          check_iterations(got.result.iterations, system.wanted(o, first_rows).iterations);
        }
    }
  }
}

TEST_CASE("a row longer than a block's share") {
  test::loose_rows rows(8300);
  for (index_t i = 0; i < 8300; ++i) {
    rows[static_cast<std::size_t>(i)][i] = 2 + static_cast<double>(i % 7);
    if (i != 40) test::set_pair(rows, 40, i, 1e-3);
  }
  known_system<double> system(test::compressed<double>(rows), 1, 1e-9);
  std::optional<machine> m = test::test_machine(2);
  if (m) check_all(system, *m, storage::compressed, {3});
}

TEST_CASE("what stays in fast memory changes no bit") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::elasticity_3d<double>(5, 4, 4);
  const test::vector b = test::random_vector(a.rows(), 8);
  for (const storage how : storages) {
    cg::solver<double> s(*m, a.view(), {.how = how, .block_size = 3});
    for (const method by : methods)
      for (const preconditioner p : preconditioners) {
        solve_options o{.how = by, .m = p, .max_iterations = 12, .fixed = true, .blocks = 2};
        const outcome<double> usual = solved(s, b, o);
        for (const index_t bytes : {0, 1000, 5000, 40000}) {
          o.keep_bytes = bytes;
          const outcome<double> got = solved(s, b, o);
          CHECK(got.result.kept_bytes <= static_cast<std::size_t>(bytes));
          CHECK(got.same_as(usual));
        }
      }
  }
}

TEST_CASE("the same bits again, whatever was solved in between") {
  std::optional<machine> m = test::test_machine(3);
  if (!m) return;
  const csr<float> a = cg::grid_2d<float>(19, 16);
  const test::vector b = test::random_vector(a.rows(), 8);
  cg::solver<float> s(*m, a.view(), {.block_size = 4});
  for (const method by : methods)
    for (const preconditioner p : preconditioners) {
      const solve_options o{.how = by, .m = p, .rtol = 1e-4, .blocks = 3};
      const outcome<float> first = solved(s, b, o);
      solved(s, test::random_vector(a.rows(), 9),
             {.how = methods[(static_cast<int>(by) + 1) % 3], .m = preconditioner::jacobi, .rtol = 1e-2, .blocks = 5});
      std::vector<float> y(static_cast<std::size_t>(a.rows()));
      s.multiply(first.x.data(), y.data());
      CHECK(solved(s, b, o).same_as(first));
      cg::solver<float> other(*m, a.view(), {.block_size = 4});
      CHECK(solved(other, b, o).same_as(first));
    }
}

TEST_CASE("the same bits in stretches") {
  const csr<double> a = cg::grid_2d<double>(16, 15);
  const test::vector b = test::random_vector(a.rows(), 1);
  for (const int n_pes : {1, 2, 3}) {
    std::optional<machine> m = test::test_machine(n_pes);
    if (!m) continue;
    cg::solver<double> s(*m, a.view(), {.block_size = 2});
    for (const method by : methods)
      for (const preconditioner p : preconditioners) {
        CAPTURE(std::string(name(by)));
        CAPTURE(std::string(name(p)));
        // Replacements within, at and between the stretches.
        const solve_options o{.how = by, .m = p, .rtol = 1e-5, .replace_every = 7, .blocks = 2};
        const outcome<double> whole = solved(s, b, o);
        CHECK(solved(s, b, o, {}, [](const cg::progress&) { return true; }, true).same_as(whole));
      }
  }
}

TEST_CASE("stretches of many iterations") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = test::compressed<double>(test::chain(test::vector(801, 1.0)));
  const test::vector b = test::random_vector(a.rows(), 2);
  cg::solver<double> s(*m, a.view());
  for (const method by : methods) {
    const solve_options o{.how = by, .rtol = 1e-9, .blocks = 1};
    const outcome<double> whole = solved(s, b, o);
    index_t before = 0;
    int looks = 0;
    const outcome<double> cut = solved(s, b, o, {}, [&](const cg::progress& p) {
      CHECK(p.iterations > before);
      before = p.iterations;
      ++looks;
      return true;
    });
    CHECK(looks > 1);
    CHECK(before == cut.result.iterations);
    CHECK(cut.same_as(whole));
    check_converged(a, b, cut);
  }
}

TEST_CASE("watching each iteration") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(11, 10);
  const test::vector b = test::random_vector(a.rows(), 1);
  cg::solver<double> s(*m, a.view());
  std::vector<double> x(b.size(), 0.0);
  for (const method by : methods) {
    CAPTURE(std::string(name(by)));
    std::fill(x.begin(), x.end(), 0.0);
    std::vector<cg::progress> seen;
    std::vector<double> true_residuals;
    const solve_result r = s.solve(
        b.data(), x.data(), {.how = by, .rtol = 1e-8, .blocks = 2},
        [&](const cg::progress& p) {
          seen.push_back(p);
          true_residuals.push_back(test::norm(test::residual(a, b, x)));
          return true;
        },
        true);
    REQUIRE(seen.size() == static_cast<std::size_t>(r.iterations));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      CHECK(seen[i].iterations == static_cast<index_t>(i) + 1);
      CHECK(seen[i].target == r.target);
      CHECK(seen[i].residual == r.history[i + 1]);
      // The x that is shown has this residual.
      CHECK(std::abs(true_residuals[i] - r.history[i + 1]) < 1e-9 * r.history[0]);
    }
  }
}

TEST_CASE("stopping from outside") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(11, 10);
  const test::vector b = test::random_vector(a.rows(), 1);
  cg::solver<double> s(*m, a.view());
  for (const method by : methods) {
    const solve_options o{.how = by, .rtol = 1e-8, .blocks = 2};
    const outcome<double> got = solved(s, b, o, {}, [](const cg::progress& p) { return p.iterations < 5; }, true);
    CHECK(got.result.why == cg::stop::iterations);
    CHECK(got.result.iterations == 5);
    CHECK(got.result.history.size() == 6);
    CHECK(got.result.residual > got.result.target);
    solve_options five = o;
    five.max_iterations = 5;
    CHECK(got.same_as(solved(s, b, five)));
    five.fixed = true;
    CHECK(got.same_as(solved(s, b, five)));
    // From there on, to the end.
    check_converged(a, b, solved(s, b, o, got.x));
  }
}

TEST_CASE("an exception of the watcher costs the solve, not the solver") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(11, 10);
  const test::vector b = test::random_vector(a.rows(), 1);
  cg::solver<double> s(*m, a.view());
  const solve_options o{.rtol = 1e-8, .blocks = 2};
  const outcome<double> before = solved(s, b, o);
  CHECK_THROWS_AS(solved(
                      s, b, o, {}, [](const cg::progress&) -> bool { throw std::runtime_error("enough"); }, true),
                  std::runtime_error);
  CHECK(solved(s, b, o).same_as(before));
}

TEST_CASE("starting points") {
  std::optional<machine> m = test::test_machine(3);
  if (!m) return;
  const csr<double> a = cg::elasticity_3d<double>(4, 3, 3);
  const test::vector truth = test::random_vector(a.rows(), 4);
  const test::vector b = test::product(a, truth);
  cg::solver<double> s(*m, a.view(), {.block_size = 3});
  for (const method by : methods)
    for (const preconditioner p : preconditioners) {
      const solve_options o{.how = by, .m = p, .rtol = 1e-9, .blocks = 2};
      const test::vector start = test::random_vector(a.rows(), 5);
      const outcome<double> got = solved(s, b, o, start);
      check_converged(a, b, got);
      CHECK(std::abs(got.result.history[0] - test::norm(test::residual(a, b, start))) < 1e-9);
      // The solution is one too, and a start from what has converged has nothing to do.
      const outcome<double> again = solved(s, b, o, got.x);
      CHECK(again.result.iterations == 0);
      CHECK(again.result.history.size() == 1);
      CHECK(again.x == got.x);
      const outcome<double> exact = solved(s, b, o, truth);
      CHECK(exact.result.iterations == 0);
      CHECK(exact.result.why == cg::stop::converged);
      CHECK(exact.x == truth);
    }
}

TEST_CASE("nothing on the right") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(7, 6);
  cg::solver<double> s(*m, a.view());
  const test::vector zero(42, 0.0);
  for (const method by : methods) {
    const outcome<double> got = solved(s, zero, {.how = by}, test::random_vector(42, 1));
    CHECK(got.result.why == cg::stop::converged);
    CHECK(got.result.iterations == 0);
    CHECK(got.result.residual == 0);
    CHECK(got.result.history == std::vector<double>{0.0});
    CHECK(got.x == zero);
    // A given number of iterations is done, from zero and from elsewhere.
    const solve_options five{.how = by, .max_iterations = 5, .fixed = true};
    const outcome<double> from_zero = solved(s, zero, five);
    CHECK(from_zero.result.iterations == 5);
    CHECK(from_zero.x == zero);
    const outcome<double> from_elsewhere = solved(s, zero, five, test::random_vector(42, 1));
    CHECK(from_elsewhere.result.iterations == 5);
    CHECK(from_elsewhere.result.residual < from_elsewhere.result.history[0]);
  }
}

TEST_CASE("a given number of iterations") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  known_system<double> system(cg::grid_2d<double>(9, 9), 3, 1e-5);
  cg::solver<double> s(*m, system.a.view(), {.block_size = 3});
  for (const method by : methods)
    for (const preconditioner p : preconditioners)
      for (const index_t n : {1, 2, 7, 300}) {  // 300: long after all digits are right
        const outcome<double> got =
            solved(s, system.b, {.how = by, .m = p, .max_iterations = n, .fixed = true, .blocks = 2});
        CHECK(got.result.why == cg::stop::iterations);
        CHECK(got.result.iterations == n);
        CHECK(got.result.history.size() == static_cast<std::size_t>(n) + 1);
        CHECK(std::isfinite(got.result.residual));
        if (n == 300) CHECK(got.result.residual < 1e-10 * test::norm(system.b));
        if (n > 7) continue;
        const test::oracle_preconditioner<double> with(system.a, {.m = p}, 3, s.facts().first_rows);
        const auto wanted = test::oracle_solve(system.a, system.b, test::vector(81, 0.0), with, 0, n);
        for (std::size_t i = 0; i < 81; ++i) CHECK(std::abs(got.x[i] - wanted.x[i]) < 1e-10);
      }
}

TEST_CASE("too few iterations") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(20, 20);
  cg::solver<double> s(*m, a.view());
  for (const method by : methods) {
    const outcome<double> got = solved(s, test::random_vector(400, 1), {.how = by, .rtol = 1e-9, .max_iterations = 10});
    CHECK(got.result.why == cg::stop::iterations);
    CHECK(got.result.iterations == 10);
    CHECK(got.result.history.size() == 11);
    CHECK(got.result.residual > got.result.target);
    CHECK(std::abs(got.result.residual - got.result.history.back()) < 1e-9 * got.result.residual);
  }
}

TEST_CASE("absolute and relative targets") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(10, 10);
  const test::vector b = test::random_vector(100, 1);
  cg::solver<double> s(*m, a.view());
  CHECK(solved(s, b, {.rtol = 0, .atol = 1e-6}).result.target == 1e-6);
  CHECK(solved(s, b, {.rtol = 1e-3, .atol = 1e-9}).result.target == doctest::Approx(1e-3 * test::norm(b)));
  const outcome<double> loose = solved(s, b, {.rtol = 0, .atol = 2 * test::norm(b)});
  CHECK(loose.result.iterations == 0);
  CHECK(loose.result.why == cg::stop::converged);
  // No target at all: as far as it goes, and then it says so.
  for (const method by : methods) {
    const outcome<double> furthest = solved(s, b, {.how = by, .rtol = 0, .atol = 0});
    CHECK(std::string(name(furthest.result.why)) == "stagnated");
    CHECK(furthest.result.residual < 1e-14 * test::norm(b));
  }
}

TEST_CASE("the degree of the polynomial") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  known_system<double> system(cg::grid_2d<double>(20, 20), 1, 1e-8);
  cg::solver<double> s(*m, system.a.view());
  index_t before = 1000;
  for (const int degree : {1, 2, 4, 16}) {
    const solve_options o{.m = preconditioner::chebyshev, .degree = degree, .rtol = 1e-8, .blocks = 3};
    const outcome<double> got = solved(s, system.b, o);
    check_converged(system.a, system.b, got);
    const test::oracle_preconditioner<double> with(system.a, o, 1, {0, 400});
    check_iterations(got.result.iterations, test::oracle_solve(system.a, system.b, test::vector(400, 0.0), with,
                                                               1e-8 * test::norm(system.b), 1000)
                                                .iterations);
    CHECK(got.result.iterations < before);
    before = got.result.iterations;
  }
}

TEST_CASE("blocks of every size on the diagonal") {
  std::optional<machine> m = test::test_machine(3);
  if (!m) return;
  const csr<double> a = cg::grid_2d<double>(17, 19);  // 323 rows: the last block is smaller
  for (const index_t size : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32})
    for (const storage how : {storage::sliced, storage::compressed}) {
      known_system<double> system(a, size, 1e-8);
      cg::solver<double> s(*m, a.view(), {.how = how, .block_size = size});
      const solve_options o{.m = preconditioner::block_jacobi, .rtol = 1e-8, .blocks = 4};
      const outcome<double> got = solved(s, system.b, o);
      check_converged(a, system.b, got);
      check_iterations(got.result.iterations, system.wanted(o, s.facts().first_rows).iterations);
    }
}

TEST_CASE("iterations long after all digits are right") {
  std::optional<machine> m = test::test_machine(1);
  if (!m) return;
  const csr<double> a = test::compressed<double>(test::random_system(60, 2, 5));
  const test::vector b = test::random_vector(60, 3);
  cg::solver<double> s(*m, a.view(), {.block_size = 3});
  for (const method by : methods)
    for (const preconditioner p : preconditioners) {
      CAPTURE(std::string(name(by)));
      CAPTURE(std::string(name(p)));
      const outcome<double> got = solved(s, b, {.how = by, .m = p, .max_iterations = 3000, .fixed = true, .blocks = 1});
      CHECK(std::string(name(got.result.why)) == "iterations");
      CHECK(got.result.iterations == 3000);
      CHECK(got.result.residual < 1e-14 * test::norm(b));
    }
}

TEST_CASE("replacements reach what the pipelined recurrence alone does not") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  // A grid, scaled on both sides by numbers from two decades.
  csr<double> a = cg::grid_2d<double>(20, 20);
  const test::vector scale = test::random_vector(400, 9);
  for (std::size_t i = 0; i < 400; ++i)
    for (index_t e = a.row_start[i]; e < a.row_start[i + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      a.value[at] *= std::pow(10.0, (scale[i] + scale[static_cast<std::size_t>(a.column[at])]) / 2);
    }
  const test::vector b = test::random_vector(400, 4);
  const double size = test::norm(b);
  cg::solver<double> s(*m, a.view());
  solve_options o{.how = method::pipelined, .max_iterations = 250, .fixed = true, .replace_every = 0};
  const outcome<double> alone = solved(s, b, o);
  CHECK(alone.result.residual > 1e-11 * size);
  o.replace_every = solve_options{}.replace_every;
  const outcome<double> replaced = solved(s, b, o);
  CHECK(replaced.result.replacements == 4);
  CHECK(replaced.result.residual < 1e-13 * size);
  for (const method by : methods) check_converged(a, b, solved(s, b, {.how = by, .rtol = 1e-12}));
  // Without replacements the end is looked at all the same: nobody is told of a residual that is not there.
  check_converged(a, b, solved(s, b, {.how = method::pipelined, .rtol = 1e-12, .replace_every = 0}));
}

}  // namespace
}  // namespace starling
