// Stencils whose tiles are in registers, in blocks of whole warps: several bands a tile and tiles that exchange, every
// step and now and then, with checks for convergence. Each result is compared with the reference.
#include "../support/register_tiles.hpp"

#include "stencil/reference.hpp"
#include "trial.hpp"

namespace {

namespace stencil = st::stencil;

template <int Depth>
void run(const st::machine& m, const std::vector<st::index_t>& shape, stencil::edge edges) {
  stencil::problem<float> p;
  p.shape = shape;
  p.edges.assign(shape.size(), edges);
  p.coefficients = stencil::heat_coefficients<float>(2, 0.1);
  std::vector<float> wanted(static_cast<std::size_t>(shape[0] * shape[1]));
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<float>(i * 37 % 101);
  std::vector<float> got = wanted;
  stencil::run_options o;
  o.steps = 5;
  o.check_every = 2;
  stencil::reference(p, wanted, o.steps);
  if (!st::test::run_register_tiles<float, 2, Depth>(m, p, got, 2, o)) throw trial::wrong_result("other tiles");
  if (got != wanted) throw trial::wrong_result("other values than the reference");
}

}  // namespace

int main(int argc, char** argv) {
  return trial::all(
      argc, argv,
      {{"every step, 1 PE", 1, [](st::machine& m) { run<1>(m, {10, 33}, stencil::edge::fixed); }},
       {"every step, periodic, 2 PEs", 2, [](st::machine& m) { run<1>(m, {13, 40}, stencil::edge::periodic); }},
       {"every two steps, 2 PEs", 2, [](st::machine& m) { run<2>(m, {14, 21}, stencil::edge::periodic); }}});
}
