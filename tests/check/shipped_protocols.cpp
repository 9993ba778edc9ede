// The protocols that ship pass check mode: stencils in all variants, with the right result; barriers and reductions are
// in tests/mutate. STARLING_PROTOCOL_SEEDS: how many schedules each is explored under.
#include <cstdlib>
#include <random>

#include "stencil/reference.hpp"
#include "stencil/solver.hpp"
#include "support/checked.hpp"

namespace starling::test {
namespace {

std::uint64_t seeds() {
  const char* text = std::getenv("STARLING_PROTOCOL_SEEDS");
  return text == nullptr ? 200 : std::strtoull(text, nullptr, 10);
}

template <class T>
void check_stencil(int n_pes, stencil::variant how, const std::vector<index_t>& shape, stencil::edge edges,
                   int blocks) {
  stencil::problem<T> p;
  p.shape = shape;
  p.edges.assign(shape.size(), edges);
  p.coefficients = stencil::jacobi_coefficients<T>(static_cast<int>(shape.size()));
  index_t cells = 1;
  for (const index_t n : shape) cells *= n;
  std::mt19937 random(static_cast<unsigned>(cells) + static_cast<unsigned>(n_pes));
  std::uniform_real_distribution<T> values(-1, 1);
  std::vector<T> u(static_cast<std::size_t>(cells));
  for (T& v : u) v = values(random);
  std::vector<T> wanted = u;
  stencil::reference(p, wanted, 5);
  machine m = checked_machine(n_pes, seeds());
  stencil::solver<T> s(m, p);
  s.load(u.data());
  (void)s.advance({.how = how, .steps = 2, .blocks = blocks});
  (void)s.advance({.how = how, .steps = 3, .check_every = 2, .blocks = blocks});
  s.store(u.data());
  CHECK(u == wanted);
  CHECK(m.checked().accesses_seen);
}

constexpr stencil::variant variants[] = {stencil::variant::copy, stencil::variant::overlap, stencil::variant::p2p,
                                         stencil::variant::cpu_free};

TEST_CASE("2D stencils") {
  for (const stencil::variant how : variants)
    for (const int n_pes : {1, 2, 3}) {
      CAPTURE(stencil::name(how));
      CAPTURE(n_pes);
      check_stencil<float>(n_pes, how, {11, 9}, stencil::edge::fixed, 2);
      check_stencil<double>(n_pes, how, {7, 6}, stencil::edge::periodic, 3);
    }
}

TEST_CASE("3D stencils") {
  for (const stencil::variant how : variants) {
    CAPTURE(stencil::name(how));
    check_stencil<double>(2, how, {6, 5, 4}, stencil::edge::fixed, 2);
    check_stencil<float>(3, how, {6, 4, 5}, stencil::edge::periodic, 1);
  }
}

TEST_CASE("faces that travel by put_signal") {
  check_stencil<double>(2, stencil::variant::cpu_free, {4, 2100}, stencil::edge::fixed, 1);
}

}  // namespace
}  // namespace starling::test
