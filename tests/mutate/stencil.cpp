// The stencil's persistent program on small domains: two and three dimensions, faces that meet, several chunks a face,
// checks for convergence, and runs that go on from one another. Each result is compared with the reference.
#include <numeric>

#include "stencil/reference.hpp"
#include "stencil/solver.hpp"
#include "trial.hpp"

namespace {

namespace stencil = st::stencil;

// Faces up to this size travel as packets.
constexpr starling::index_t packet_bytes = 262144;

struct domain {
  std::vector<st::index_t> shape;
  std::vector<int> parts;  // empty: along the first axis
  bool periodic = false;
  stencil::run_options options{};
};

template <class T>
void run(st::machine& m, const domain& d) {
  stencil::problem<T> p;
  p.shape = d.shape;
  p.parts = d.parts;
  p.coefficients = stencil::heat_coefficients<T>(static_cast<int>(d.shape.size()), 0.1);
  if (d.periodic) p.edges.assign(d.shape.size(), stencil::edge::periodic);
  const auto cells = std::accumulate(d.shape.begin(), d.shape.end(), st::index_t{1}, std::multiplies<>());
  std::vector<T> wanted(static_cast<std::size_t>(cells));
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<T>(i * 37 % 101);
  std::vector<T> got = wanted;
  stencil::solver<T> s(m, p);
  s.load(got.data());
  stencil::run_options options = d.options;
  options.packet_bytes = packet_bytes;
  for (int call = 0; call < 2; ++call) {
    s.advance(options);
    stencil::reference(p, wanted, d.options.steps);
  }
  s.store(got.data());
  if (got != wanted) throw trial::wrong_result("other values than the reference");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<trial::trial_case> cases;
  const auto add = [&](const std::string& name, int pes, const domain& d) {
    cases.push_back({name, pes, [d](st::machine& m) { run<float>(m, d); }});
  };
  const auto plain = stencil::variant::cpu_free;
  add("2D, 2 PEs", 2, {{8, 10}, {}, false, {.how = plain, .steps = 4, .blocks = 2}});
  add("2D, 3 PEs, 3 blocks", 3, {{9, 6}, {}, false, {.how = plain, .steps = 4, .blocks = 3}});
  add("2D, periodic", 2, {{8, 6}, {}, true, {.how = plain, .steps = 4, .blocks = 2}});
  add("2D, one block", 2, {{8, 6}, {}, false, {.how = plain, .steps = 4, .blocks = 1}});
  add("2D, one layer a PE", 3, {{3, 6}, {}, true, {.how = plain, .steps = 4, .blocks = 2}});
  add("2D, faces that meet", 4, {{8, 8}, {2, 2}, false, {.how = plain, .steps = 4, .blocks = 3}});
  add("2D, with checks", 2, {{8, 6}, {}, false, {.how = plain, .steps = 4, .check_every = 1, .blocks = 3}});
  add("2D, 2 chunks a face", 2, {{4, 256}, {}, false, {.how = plain, .steps = 3, .blocks = 8, .boundary_blocks = 4}});
  add("2D, 2 chunks a face, faces that meet", 2,
      {{4, 256}, {}, true, {.how = plain, .steps = 3, .blocks = 16, .boundary_blocks = 8}});
  // Every block does a part of the faces: strips of whole rows, of rows that end within one, and more blocks than
  // strips.
  add("2D, all blocks do the boundary", 2,
      {{6, 16}, {}, false, {.how = plain, .steps = 4, .blocks = 3, .boundary_blocks = 0}});
  add("2D, all blocks do the boundary, odd rows", 2,
      {{6, 7}, {}, true, {.how = plain, .steps = 4, .blocks = 4, .boundary_blocks = 0}});
  add("2D, faces that meet, all blocks do the boundary", 4,
      {{6, 6}, {2, 2}, false, {.how = plain, .steps = 3, .blocks = 6, .boundary_blocks = 0}});
  add("3D, all blocks do the boundary", 2,
      {{4, 3, 8}, {}, false, {.how = plain, .steps = 3, .blocks = 4, .boundary_blocks = 0}});
  add("3D, 2 PEs", 2, {{6, 4, 4}, {}, false, {.how = plain, .steps = 4, .blocks = 2}});
  add("3D, faces that meet", 4, {{4, 4, 4}, {2, 2, 1}, true, {.how = plain, .steps = 3, .blocks = 3}});
  // Blocks that keep their tiles.
  const auto resident = stencil::variant::resident;
  const auto temporal = stencil::variant::temporal;
  add("tiles, 2 PEs", 2, {{8, 10}, {}, false, {.how = resident, .steps = 5, .blocks = 4}});
  add("tiles, periodic", 1, {{8, 6}, {}, true, {.how = resident, .steps = 4, .blocks = 2}});
  add("tiles, with checks", 2, {{8, 6}, {}, false, {.how = resident, .steps = 4, .check_every = 1, .blocks = 3}});
  add("tiles, 3D", 2, {{6, 4, 4}, {}, true, {.how = resident, .steps = 3, .blocks = 2}});
  add("tiles, every two steps", 2, {{8, 8}, {}, true, {.how = temporal, .steps = 6, .blocks = 4, .depth = 2}});
  // Several steps in a pass over memory.
  add("passes, 2 PEs", 2,
      {{16, 12}, {}, false, {.how = temporal, .steps = 8, .blocks = 2, .depth = 3, .shared_bytes = 16}});
  add("passes, edges that meet", 4,
      {{8, 8}, {2, 2}, true, {.how = temporal, .steps = 5, .blocks = 2, .depth = 2, .shared_bytes = 16}});
  add("graph, 2 PEs", 2, {{8, 10}, {}, false, {.how = stencil::variant::graph, .steps = 9, .blocks = 3}});
  add("graph, periodic", 2, {{6, 6}, {}, true, {.how = stencil::variant::graph, .steps = 4, .blocks = 2}});
  // Steps that the host controls, ordered by events.
  for (const auto how : {stencil::variant::copy, stencil::variant::overlap, stencil::variant::p2p})
    add(st::message("variant ", stencil::name(how)), 3, {{9, 6}, {}, true, {.how = how, .steps = 4, .blocks = 2}});
  return trial::all(argc, argv, cases);
}
