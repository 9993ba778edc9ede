// What a stencil refuses, and what it says.
#include <doctest/doctest.h>

#include <cmath>

#include "starling/base/error.hpp"
#include "stencil/solver.hpp"
#include "support/failure.hpp"
#include "support/test_machine.hpp"

namespace starling::stencil {
namespace {

problem<float> good() {
  problem<float> p;
  p.shape = {8, 9};
  p.coefficients = jacobi_coefficients<float>(2);
  return p;
}

std::string refusal(const problem<float>& p, int n_pes) {
  return test::failure_of<argument_error>([&] { geometry_of(p, n_pes); });
}

bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST_CASE("wrong number of dimensions") {
  auto p = good();
  p.shape = {8};
  CHECK(says(refusal(p, 1), "1 dimensions; must have 2 or 3"));
}

TEST_CASE("an extent of zero") {
  auto p = good();
  p.shape = {8, 0};
  CHECK(says(refusal(p, 1), "shape (8, 0); every extent must be from 1"));
}

TEST_CASE("more cells than can be counted") {
  auto p = good();
  p.shape = {1 << 30, 1 << 30, 1 << 30};
  p.coefficients = jacobi_coefficients<float>(3);
  CHECK(says(refusal(p, 1), "must have at most 2^48 cells"));
}

TEST_CASE("coefficients for another number of dimensions") {
  for (const int dimensions : {-1, 0, 1, 4}) {
    const auto text = test::failure_of<argument_error>([&] { jacobi_coefficients<float>(dimensions); });
    CHECK(says(text, "dimensions; must have 2 or 3"));
    CHECK(
        says(test::failure_of<argument_error>([&] { heat_coefficients<float>(dimensions, 0.1); }), "must have 2 or 3"));
  }
}

TEST_CASE("wrong number of coefficients") {
  auto p = good();
  p.coefficients.pop_back();
  CHECK(says(refusal(p, 1), "4 coefficients for 2 dimensions; must be 5"));
}

TEST_CASE("coefficients that are not finite") {
  auto p = good();
  p.coefficients[3] = std::nanf("");
  CHECK(says(refusal(p, 1), "coefficient 3 is nan; must be finite"));
  p.coefficients[3] = INFINITY;
  CHECK(says(refusal(p, 1), "coefficient 3 is inf; must be finite"));
}

TEST_CASE("more PEs than rows") {
  auto p = good();
  p.shape = {3, 9};
  CHECK(says(refusal(p, 4), "divides the 3 layers of axis 0 among 4 PEs; each needs at least one: use fewer devices"));
}

TEST_CASE("a split for another number of PEs") {
  auto p = good();
  p.parts = {2, 2};
  CHECK(says(refusal(p, 3), "split (2, 2) makes 4 parts for a machine of 3 PEs"));
  p.parts = {2};
  CHECK(says(refusal(p, 2), "give one number of PEs per axis"));
  p.parts = {0, 2};
  CHECK(says(refusal(p, 2), "split (0, 2); every number must be at least 1"));
}

TEST_CASE("edges for another number of axes") {
  auto p = good();
  p.edges = {edge::fixed};
  CHECK(says(refusal(p, 1), "1 edges for 2 dimensions; give one per axis"));
}

TEST_CASE("an unstable heat ratio") {
  const std::string text = test::failure_of<argument_error>([] { heat_coefficients<float>(2, 0.3); });
  CHECK(says(text, "heat ratio 0.3 in 2 dimensions; must be above 0 and at most 0.25"));
}

TEST_CASE("an unknown variant") {
  const std::string text = test::failure_of<argument_error>([] { variant_named("fast"); });
  CHECK(says(text, "variant \"fast\"; must be copy, overlap, p2p, graph, cpu_free, resident, temporal or auto"));
}

struct loaded_solver {
  loaded_solver() {
    std::optional<machine> m = test::test_machine(1);
    if (!m) return;
    s.emplace(*m, good());
    const std::vector<float> u(72, 1.0f);
    s->load(u.data());
  }
  std::string refusal(const run_options& o) {
    return test::failure_of<argument_error>([&] { s->advance(o); });
  }
  std::optional<solver<float>> s;
};

TEST_CASE_FIXTURE(loaded_solver, "options that make no sense") {
  if (!s) return;
  CHECK(says(refusal({.steps = 0}), "steps = 0; must be at least 1"));
  CHECK(says(refusal({.check_every = -1}), "check_every = -1"));
  CHECK(says(refusal({.check_every = 1, .tolerance = -1.0}), "tolerance = -1; must be finite and at least 0"));
  CHECK(says(refusal({.tolerance = 0.5}), "without check_every; say after how many steps to check"));
  CHECK(says(refusal({.blocks = -2}), "blocks = -2"));
  CHECK(says(refusal({.threads = 33}), "threads = 33; must be a multiple of 32"));
  CHECK(says(refusal({.boundary_blocks = -2}), "boundary_blocks = -2; must be at least 0, or -1 to choose"));
  CHECK(says(refusal({.how = variant::cpu_free, .blocks = 2, .boundary_blocks = 2}),
             "boundary_blocks = 2 of 2 blocks; leave one for the interior"));
  CHECK(says(refusal({.packet_bytes = -2}), "packet_bytes = -2; must be at least 0, or -1 to choose"));
  CHECK(says(refusal({.deadline = -1.0}), "deadline = -1"));
  // Nothing of this has cost the cells.
  std::vector<float> got(72);
  s->store(got.data());
  CHECK(got == std::vector<float>(72, 1.0f));
}

TEST_CASE_FIXTURE(loaded_solver, "more blocks than fit") {
  if (!s) return;
  const std::string text = test::failure_of<launch_error>([&] { s->advance({.blocks = 100000}); });
  CHECK(says(text, "blocks = 100000 per PE, but only"));
}

TEST_CASE_FIXTURE(loaded_solver, "resident: options that make no sense") {
  if (!s) return;
  const auto resident = [](run_options o) {
    o.how = variant::resident;
    return o;
  };
  CHECK(says(refusal(resident({.blocks = -1})), "blocks = -1"));
  CHECK(says(refusal(resident({.depth = -1})), "depth = -1; must be from 1 to 16"));
  CHECK(says(refusal(resident({.depth = 17})), "depth = 17; must be from 1 to 16"));
  CHECK(says(refusal(resident({.depth = 2})), "depth = 2 with the variant resident"));
  CHECK(says(refusal(resident({.deadline = -1.0})), "deadline = -1"));
  CHECK(says(refusal(resident({.threads = 40})), "threads = 40; must be a multiple of 32"));
  CHECK(says(test::failure_of<launch_error>([&] { s->advance(resident({.blocks = 100000})); }),
             "blocks = 100000 per PE, but only"));
  std::vector<float> got(72);
  s->store(got.data());
  CHECK(got == std::vector<float>(72, 1.0f));
}

TEST_CASE_FIXTURE(loaded_solver, "resident: tiles that do not fit are no error") {
  if (!s) return;
  const run_result r = s->advance({.how = variant::resident, .steps = 3, .blocks = 4, .shared_bytes = 100});
  CHECK(r.how == variant::cpu_free);
  CHECK(r.why == "the steps of cpu_free: no tiles of resident fit on chip, where a block has 100 bytes");
}

TEST_CASE("resident: a depth that the domain is too thin for") {
  std::optional<machine> m = test::test_machine(3);
  if (!m) return;
  solver<float> s(*m, good());
  const std::vector<float> u(72, 1.0f);
  s.load(u.data());
  const std::string text = test::failure_of<argument_error>([&] { s.advance({.how = variant::temporal, .depth = 3}); });
  CHECK(says(text, "depth = 3 needs as many layers on every device"));
}

TEST_CASE("work before load") {
  std::optional<machine> m = test::test_machine(1);
  if (!m) return;
  solver<float> s(*m, good());
  std::vector<float> u(72);
  CHECK(says(test::failure_of<argument_error>([&] { s.advance({}); }), "load() first"));
  CHECK(says(test::failure_of<argument_error>([&] { s.store(u.data()); }), "load() first"));
  CHECK(says(test::failure_of<argument_error>([&] { s.load(nullptr); }), "null pointer"));
}

TEST_CASE("a domain that does not fit") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  auto p = good();
  p.shape = {1 << 20, 1 << 20};
  const std::string text = test::failure_of<memory_error>([&] { solver<float> s(*m, p); });
  CHECK(says(text, "2 TiB asked for on each of 2 PEs"));
  auto small = good();
  solver<float> after(*m, small);
  const std::vector<float> u(72, 2.0f);
  after.load(u.data());
  CHECK(after.advance({.steps = 2}).steps == 2);
}

TEST_CASE("after a stall the cells are lost, the machine is not") {
  if (test::on_gpus()) return;  // a deadline that short is reliably missed on virtual devices only
  variant how = variant::cpu_free;
  SUBCASE("cpu_free") { how = variant::cpu_free; }
  SUBCASE("resident") { how = variant::resident; }
  SUBCASE("graph") { how = variant::graph; }
  std::optional<machine> m = test::test_machine(4);
  auto p = good();
  solver<float> s(*m, p);
  std::vector<float> u(72, 1.0f);
  s.load(u.data());
  bool stalled = false;
  for (int tries = 0; tries < 50 && !stalled; ++tries) try {
      s.advance({.how = how, .steps = 1000, .blocks = 8, .deadline = 1e-9});
    } catch (const stall_error&) {
      stalled = true;
    }
  REQUIRE(stalled);
  CHECK(says(test::failure_of<argument_error>([&] { s.store(u.data()); }), "again after an error"));
  s.load(u.data());
  CHECK(s.advance({.how = how, .steps = 7}).steps == 7);
  std::vector<float> got(72);
  s.store(got.data());
  CHECK(got == u);
}

}  // namespace
}  // namespace starling::stencil
