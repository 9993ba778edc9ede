// Every PE names itself as the root of a broadcast. All must name the one that has the value.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto outcomes = gallery::filled(m, 1, 0);
  const auto outcome = outcomes.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        const int chosen = 40 + b.pe();
        const int root = fixed ? 2 : b.pe();  // wrong: a root of one's own
        const int told = b.broadcast(chosen, root);
        if (b.member() == 0) *outcome.on(b.pe()) = told;
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (*outcomes.on(pe) != 42) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::collective}, "with the same arguments"}, run);
}
