// Two roles of one program: one checks for convergence in every step, the other only meets the rest of its PE. All
// blocks must make the same collectives in the same order.
#include "gallery.hpp"

namespace {

constexpr int steps = 3;

bool run(st::machine& m, bool fixed) {
  auto outcomes = gallery::filled(m, 1, 0);
  const auto outcome = outcomes.data();
  st::role_plan roles;
  const st::role checker = roles.add("checker", 1);
  roles.add("worker", 2);
  m.run(
      roles, STARLING_KERNEL(st::block & b) {
        int total = 0;
        for (int t = 0; t < steps; ++t) {
          if (fixed || b.role() == checker)
            total += b.all_reduce(1, st::plus());
          else
            b.sync_pe();  // wrong: the others are in an all_reduce
        }
        if (b.index() == 0 && b.member() == 0) *outcome.on(b.pe()) = total;
      });
  for (int pe = 0; pe < m.size(); ++pe)
    if (*outcomes.on(pe) != steps * 3 * m.size()) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::collective}, "in the same order", 2}, run);
}
