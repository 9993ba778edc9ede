// One role makes the cells, another sends the first and last of them on. Nothing tells the sender that they are made.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 24;

bool run(st::machine& m, bool fixed) {
  auto cells = gallery::filled(m, n, 0);
  auto inboxes = m.allocate<int>(2);
  const auto u = cells.data();
  const auto inbox = inboxes.data();
  st::role_plan roles;
  const st::role sender = roles.add("sender", 1);
  const st::role maker = roles.add("maker", 2);
  m.run(
      roles, STARLING_KERNEL(st::block & b) {
        int* mine = u.on(b.pe());
        if (b.role() == maker)
          b.for_each(b.my_share(n), [&](st::index_t i) { mine[i] = b.pe() * 100 + static_cast<int>(i); });
        if (fixed) b.sync_pe();  // wrong without: the sender does not wait for the makers
        if (b.role() == sender) {
          const int right = (b.pe() + 1) % b.n_pes();
          b.put(inbox, mine, 1, right);
          b.put(inbox + 1, mine + (n - 1), 1, right);
        }
      });
  for (int pe = 0; pe < m.size(); ++pe) {
    const int left = (pe + m.size() - 1) % m.size();
    if (inboxes.on(pe)[0] != left * 100 || inboxes.on(pe)[1] != left * 100 + n - 1) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::unordered_read, st::defect::unordered_write}, "sync_pe", 2}, run);
}
