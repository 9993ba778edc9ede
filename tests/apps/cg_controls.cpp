// Conjugate gradients that the host controls, by streams or by a graph, give the bits of the persistent program: the
// solution, the history, and why they end.
#include <doctest/doctest.h>

#include <cstring>

#include <random>

#include "cg/matrices.hpp"
#include "cg/solver.hpp"
#include "support/cg_choices.hpp"
#include "support/test_machine.hpp"

namespace starling {
namespace {

using cg::control;
using cg::csr;
using cg::method;
using cg::preconditioner;
using cg::solve_options;
using cg::solve_result;
using cg::storage;
using test::methods;
using test::preconditioners;

// Under ThreadSanitizer every solve takes long: each number of PEs has one storage then, in turn.
#if defined(__SANITIZE_THREAD__)
constexpr bool slow = true;
#else
constexpr bool slow = false;
#endif
constexpr control by_host[] = {control::streams, control::graph};

template <class T>
std::vector<T> right_hand_side(index_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::uniform_real_distribution<T> values(-1, 1);
  std::vector<T> b(static_cast<std::size_t>(n));
  for (T& v : b) v = values(random);
  return b;
}

template <class T>
struct outcome {
  solve_result result;
  std::vector<T> x;
  std::vector<index_t> seen;  // iterations that the callback saw
};

template <class T>
outcome<T> solved(cg::solver<T>& s, solve_options o, control who, bool each = false, index_t until = 0) {
  o.who = who;
  const auto b = right_hand_side<T>(s.facts().rows);
  outcome<T> got;
  got.x.resize(b.size());
  std::function<bool(const cg::progress&)> watch;
  if (each || until > 0)
    watch = [&](const cg::progress& p) {
      if (each) got.seen.push_back(p.iterations);
      return until == 0 || p.iterations < until;
    };
  got.result = s.solve(b.data(), got.x.data(), o, watch, each);
  return got;
}

// Also the bits of what is not a number.
template <class V>
bool same_bits(const std::vector<V>& a, const std::vector<V>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(V)) == 0;
}

template <class T>
void check_equal(const outcome<T>& got, const outcome<T>& wanted) {
  const solve_result &r = got.result, &w = wanted.result;
  CHECK(std::string(name(r.why)) == name(w.why));
  CHECK(r.iterations == w.iterations);
  CHECK(r.replacements == w.replacements);
  CHECK(r.blocks == w.blocks);
  CHECK(r.threads == w.threads);
  CHECK(same_bits(r.history, w.history));
  CHECK(same_bits(std::vector{r.residual, r.breakdown_value}, std::vector{w.residual, w.breakdown_value}));
  CHECK(same_bits(got.x, wanted.x));
  CHECK(got.seen == wanted.seen);
}

// The same with each control; returns what it is.
template <class T>
outcome<T> check_same(cg::solver<T>& s, const solve_options& o, bool each = false, index_t until = 0) {
  CAPTURE(std::string(cg::name(o.how)));
  CAPTURE(std::string(cg::name(o.m)));
  CAPTURE(o.blocks);
  const outcome<T> wanted = solved(s, o, control::cpu_free, each, until);
  for (const control who : by_host) {
    CAPTURE(std::string(cg::name(who)));
    const outcome<T> got = solved(s, o, who, each, until);
    check_equal(got, wanted);
    CHECK(got.result.seconds > 0);
    CHECK(got.result.kept_bytes == 0);
  }
  return wanted;
}

template <class T>
void check_system(const csr<T>& a, index_t block_size, double rtol) {
  for (const int n_pes : {1, 2, 3, 4}) {
    const auto m = test::test_machine(n_pes);
    if (!m) return;
    CAPTURE(n_pes);
    for (const storage how : {storage::sliced, storage::sliced_3x3, storage::compressed}) {
      if (slow && how != test::storages[n_pes % 3]) continue;
      CAPTURE(std::string(cg::name(how)));
      cg::solver<T> s(*m, a.view(), {.first_rows = {}, .how = how, .block_size = block_size});
      const int blocks = how == storage::sliced ? 2 : how == storage::compressed ? 3 : 1;
      for (const method each : methods)
        for (const preconditioner p : preconditioners) {
          const auto r = check_same(s, {.how = each, .m = p, .rtol = rtol, .replace_every = 10, .blocks = blocks});
          if (sizeof(T) == 8) CHECK(std::string(name(r.result.why)) == "converged");
        }
    }
  }
}

TEST_CASE("cg controls: the same bits, double precision") { check_system(cg::grid_2d<double>(21, 14), 3, 1e-9); }

TEST_CASE("cg controls: the same bits, single precision") { check_system(cg::elasticity_3d<float>(5, 3, 3), 6, 1e-2); }

// Products that follow each other without a sum between them, many values of other PEs: again and again.
template <class T>
void check_again_and_again(const csr<T>& a) {
  const auto m = test::test_machine(2);
  if (!m) return;
  for (const storage how : {storage::sliced_3x3, storage::sliced}) {
    CAPTURE(std::string(cg::name(how)));
    cg::solver<T> s(*m, a.view(), {.how = how, .block_size = 6});
    for (const method by : methods) {
      const auto p = by == method::pipelined ? preconditioner::none : preconditioner::chebyshev;
      const solve_options o{.how = by,
                            .m = p,
                            .max_iterations = 40,
                            .fixed = true,
                            .replace_every = 10,
                            .blocks = how == storage::sliced ? 2 : 1};
      const outcome<T> first = solved(s, o, control::cpu_free);
      for (int again = 0; again < (slow ? 2 : 10); ++again) check_equal(solved(s, o, control::cpu_free), first);
    }
  }
}

TEST_CASE("cg controls: the same bits again and again") {
  check_again_and_again(cg::elasticity_3d<float>(5, 3, 3));
  check_again_and_again(cg::elasticity_3d<double>(5, 3, 3));
}

TEST_CASE("cg controls: where the solve ends") {
  const auto m = test::test_machine(2);
  if (!m) return;
  cg::solver<double> s(*m, cg::grid_2d<double>(24, 20).view(), {});
  for (const method how : methods) {
    for (const index_t last : {1, 2, 15, 16, 17, 33}) {
      CAPTURE(last);
      const auto r = check_same(s, {.how = how, .rtol = 1e-12, .max_iterations = last});
      CHECK(r.result.iterations == last);
    }
    // More than is issued ahead, and more than there are iterations that bring anything.
    (void)check_same(s, {.how = how, .max_iterations = 300, .fixed = true});
    const auto r = check_same(s, {.how = how, .rtol = 1e-17, .max_iterations = 1000});
    CHECK(std::string(name(r.result.why)) != "converged");
  }
}

TEST_CASE("cg controls: replacing the residual, at numbers that fit a graph and others") {
  const auto m = test::test_machine(3);
  if (!m) return;
  cg::solver<double> s(*m, cg::grid_2d<double>(30, 17).view(), {});
  for (const index_t every : {0, 1, 2, 7, 8, 50, 96, 100'000})
    for (const preconditioner p : {preconditioner::none, preconditioner::chebyshev}) {
      const auto r = check_same(s, {.how = method::pipelined, .m = p, .rtol = 1e-10, .replace_every = every});
      // Also where the host cannot know before when it will be.
      if (every == 0) CHECK(r.result.replacements >= 2);
    }
}

TEST_CASE("cg controls: a matrix that is not positive definite") {
  const auto m = test::test_machine(2);
  if (!m) return;
  csr<double> a = cg::grid_2d<double>(16, 16);
  for (double& v : a.value)
    if (v > 0) v = 2.5;
  cg::solver<double> s(*m, a.view(), {});
  for (const method how : methods) {
    const auto r = check_same(s, {.how = how, .rtol = 1e-10});
    CHECK(std::string(name(r.result.why)) != "converged");
    if (how == method::standard) CHECK(r.result.breakdown_value < 0);
  }
}

TEST_CASE("cg controls: watched, and stopped by the watcher") {
  const auto m = test::test_machine(2);
  if (!m) return;
  cg::solver<double> s(*m, cg::grid_2d<double>(15, 15).view(), {});
  for (const method how : methods) {
    (void)check_same(s, {.how = how, .rtol = 1e-8, .replace_every = 5}, true);
    const auto r = check_same(s, {.how = how, .rtol = 1e-8}, true, 7);
    CHECK(r.result.iterations == 7);
  }
}

TEST_CASE("cg controls: more PEs than rows, and solves that take turns") {
  const auto m = test::test_machine(4);
  if (!m) return;
  cg::solver<double> s(*m, cg::grid_2d<double>(3, 1).view(), {});
  for (const method how : methods) (void)check_same(s, {.how = how, .rtol = 1e-8});
  for (const method how : methods) (void)check_same(s, {.how = how, .m = preconditioner::jacobi, .rtol = 1e-8});
}

}  // namespace
}  // namespace starling
