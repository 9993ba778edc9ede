// The protocols that ship pass check mode: stencils in all variants, with the right result; barriers and reductions are
// in tests/mutate. STARLING_PROTOCOL_SEEDS: how many schedules each is explored under.
#include <cstdlib>
#include <random>

#include "stencil/reference.hpp"
#include "stencil/solver.hpp"
#include "support/checked.hpp"

namespace starling::test::shipped_protocols_tests {
namespace {

std::uint64_t seeds() {
  const char* text = std::getenv("STARLING_PROTOCOL_SEEDS");
  return text == nullptr ? 100 : std::strtoull(text, nullptr, 10);
}

template <class T>
void check_stencil(int n_pes, stencil::run_options o, const std::vector<index_t>& shape, stencil::edge edges) {
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
  o.steps = 2;
  (void)s.advance(o);
  o.steps = 3;
  o.check_every = 2;
  (void)s.advance(o);
  s.store(u.data());
  CHECK(u == wanted);
  CHECK(m.checked().accesses_seen);
}

// Every face and edge travels as packets, as small ones do between GPUs.
constexpr index_t all_packets = index_t{1} << 30;

template <class T>
void check_stencil(int n_pes, stencil::variant how, const std::vector<index_t>& shape, stencil::edge edges,
                   int blocks) {
  check_stencil<T>(n_pes, {.how = how, .blocks = blocks, .packet_bytes = all_packets}, shape, edges);
}

constexpr stencil::variant variants[] = {
    stencil::variant::copy,     stencil::variant::overlap,  stencil::variant::p2p,     stencil::variant::graph,
    stencil::variant::cpu_free, stencil::variant::resident, stencil::variant::temporal};

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

// Tiles of which some have neighbours of their own PE alone.
TEST_CASE("tiles that stay with their blocks") {
  for (const int depth : {1, 2, 3}) {
    CAPTURE(depth);
    const stencil::run_options o{.how = stencil::variant::temporal, .blocks = 4, .depth = depth};
    check_stencil<float>(1, o, {13, 12}, stencil::edge::periodic);
    check_stencil<float>(2, o, {8, 7, 6}, stencil::edge::fixed);
    check_stencil<double>(2, o, {44, 9}, stencil::edge::fixed);
  }
  check_stencil<float>(2, {.how = stencil::variant::resident, .blocks = 2}, {20, 7, 8}, stencil::edge::periodic);
}

TEST_CASE("passes of several steps") {
  for (const int n_pes : {1, 2, 3, 4}) {
    CAPTURE(n_pes);
    stencil::run_options o{.how = stencil::variant::temporal, .blocks = 2, .depth = 3, .shared_bytes = 16};
    check_stencil<float>(n_pes, o, {4 * n_pes, 150}, stencil::edge::fixed);
    check_stencil<double>(n_pes, o, {4 * n_pes, 9}, stencil::edge::periodic);
  }
}

TEST_CASE("faces that travel by put_signal") {
  check_stencil<double>(2, {.how = stencil::variant::cpu_free, .blocks = 1, .packet_bytes = 0}, {4, 210},
                        stencil::edge::fixed);
}

TEST_CASE("every block does a part of the faces") {
  for (const stencil::variant how : {stencil::variant::cpu_free, stencil::variant::graph})
    for (const index_t packet_bytes : {index_t{0}, all_packets}) {
      CAPTURE(stencil::name(how));
      CAPTURE(packet_bytes);
      const stencil::run_options o{.how = how, .blocks = 4, .boundary_blocks = 0, .packet_bytes = packet_bytes};
      check_stencil<float>(2, o, {6, 24}, stencil::edge::fixed);
      check_stencil<float>(3, o, {7, 9}, stencil::edge::periodic);
      check_stencil<double>(2, o, {4, 4, 6}, stencil::edge::fixed);
      check_stencil<float>(2, o, {5, 3, 5}, stencil::edge::periodic);
    }
}

}  // namespace
}  // namespace starling::test::shipped_protocols_tests
