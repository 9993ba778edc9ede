// Stencils whose tiles are in registers, which GPUs alone have, pass check mode with whole warps.
#include "support/register_tiles.hpp"

#include <random>

#include "stencil/reference.hpp"
#include "support/checked.hpp"

namespace starling::test::register_tiles_tests {
namespace {

template <class T, int Rows, int Depth>
void check_tiles(int n_pes, int blocks, const std::vector<index_t>& shape, stencil::edge edges, bool heat = false) {
  stencil::problem<T> p;
  p.shape = shape;
  p.edges.assign(shape.size(), edges);
  p.coefficients = heat ? stencil::heat_coefficients<T>(2, 0.1) : stencil::jacobi_coefficients<T>(2);
  std::mt19937 random(static_cast<unsigned>(shape[0] * shape[1] + n_pes));
  std::uniform_real_distribution<T> values(-1, 1);
  std::vector<T> u(static_cast<std::size_t>(shape[0] * shape[1]));
  for (T& v : u) v = values(random);
  std::vector<T> wanted = u;
  stencil::run_options o;
  o.steps = 5;
  o.check_every = 4;
  stencil::reference(p, wanted, o.steps);
  const machine m = checked_machine(n_pes, few_seeds);
  const std::optional<int> threads = run_register_tiles<T, Rows, Depth>(m, p, u, blocks, o);
  REQUIRE(threads);
  CHECK(u == wanted);
  CHECK(*threads >= 32);
  CHECK(m.checked().threads_seen == *threads);
  CHECK(m.checked().accesses_seen);
}

TEST_CASE("tiles in registers that exchange every step") {
  check_tiles<float, 2, 1>(1, 2, {10, 33}, stencil::edge::fixed);
  check_tiles<float, 2, 1>(2, 2, {13, 40}, stencil::edge::periodic);
  check_tiles<double, 2, 1>(2, 2, {12, 50}, stencil::edge::fixed, true);
}

TEST_CASE("tiles in registers that exchange now and then") {
  check_tiles<float, 2, 2>(2, 2, {14, 21}, stencil::edge::periodic);
  check_tiles<double, 2, 3>(2, 2, {16, 20}, stencil::edge::fixed, true);
}

}  // namespace
}  // namespace starling::test::register_tiles_tests
