// What sync_pe, sync_all, barrier_all, all_reduce and broadcast promise, relied on in every way that their comments
// allow.
#include "trial.hpp"

namespace {

constexpr int rounds = 4;

void sync_pe(st::machine& m, int blocks) {
  auto cells = m.allocate<int>(2 * blocks);
  const auto cell = cells.data();
  m.run(
      blocks, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        for (int t = 1; t <= rounds; ++t) {
          int* now = cell.on(b.pe()) + t % 2 * blocks;
          now[b.index()] = t * 10 + b.index();
          b.sync_pe();
          for (int i = 0; i < blocks; ++i) v.same(now[i], t * 10 + i);
        }
        v.end(b);
      });
}

void barrier_all(st::machine& m, int blocks) {
  const int all = m.size() * blocks;
  auto boxes = m.allocate<int>(2 * all);
  const auto box = boxes.data();
  m.run(
      blocks, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int number = b.pe() * blocks + b.index();
        for (int t = 1; t <= rounds; ++t) {
          const st::index_t slot = t % 2 * all;
          const int value = t * 100 + number;
          for (int pe = 0; pe < b.n_pes(); ++pe) b.put(box + (slot + number), &value, 1, pe);
          b.barrier_all();
          for (int i = 0; i < all; ++i) v.same(box.on(b.pe())[slot + i], t * 100 + i);
        }
        v.end(b);
      });
}

void sync_all(st::machine& m, int blocks) {
  auto cells = m.allocate<int>(2 * blocks);
  const auto cell = cells.data();
  m.run(
      blocks, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        for (int t = 1; t <= rounds; ++t) {
          const st::index_t slot = t % 2 * blocks;
          cell.on(b.pe())[slot + b.index()] = t * 100 + b.pe() * 10 + b.index();
          b.sync_all();
          for (int pe = 0; pe < b.n_pes(); ++pe)
            for (int i = 0; i < blocks; ++i) v.same(b.g(cell + (slot + i), pe), t * 100 + pe * 10 + i);
        }
        v.end(b);
      });
}

// Also a sync_pe.
void all_reduce(st::machine& m, int blocks) {
  auto cells = m.allocate<int>(2 * blocks);
  const auto cell = cells.data();
  m.run(
      blocks, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int all = b.n_pes() * blocks;
        for (int t = 1; t <= rounds; ++t) {
          int* now = cell.on(b.pe()) + t % 2 * blocks;
          now[b.index()] = t * 10 + b.index();
          v.same(b.all_reduce(t * (b.pe() * blocks + b.index()), st::plus()), t * all * (all - 1) / 2);
          for (int i = 0; i < blocks; ++i) v.same(now[i], t * 10 + i);
        }
        v.end(b);
      });
}

struct four {
  double part[4];
};

void wide_all_reduce(st::machine& m, int blocks) {
  m.run(
      blocks, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const auto add = [](const four& x, const four& y) {
          four sum;
          for (int i = 0; i < 4; ++i) sum.part[i] = x.part[i] + y.part[i];
          return sum;
        };
        for (int t = 1; t <= rounds; ++t) {
          const four sum = b.all_reduce(four{{1.0 * t, 2.0 * t, 3.0 * t, 4.0 * t}}, add);
          for (int i = 0; i < 4; ++i) v.same(sum.part[i], 1.0 * t * (i + 1) * b.n_pes() * blocks);
        }
        v.end(b);
      });
}

void broadcast(st::machine& m, int blocks) {
  auto cells = m.allocate<int>(2 * blocks);
  const auto cell = cells.data();
  m.run(
      blocks, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        for (int t = 1; t <= rounds; ++t) {
          int* now = cell.on(b.pe()) + t % 2 * blocks;
          now[b.index()] = t * 10 + b.index();
          const int root = t % b.n_pes();
          v.same(b.broadcast(t * 100 + b.pe() * 10 + b.index(), root), t * 100 + root * 10);
          for (int i = 0; i < blocks; ++i) v.same(now[i], t * 10 + i);
        }
        v.end(b);
      });
}

// One after another, without anything between them.
void mixed(st::machine& m, int blocks) {
  auto cells = m.allocate<int>(3 * blocks);
  const auto cell = cells.data();
  m.run(
      blocks, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        int* mine = cell.on(b.pe());
        for (int t = 1; t <= rounds; ++t) {
          mine[b.index()] = t;
          b.sync_pe();
          for (int i = 0; i < blocks; ++i) v.same(mine[i], t);
          v.same(b.all_reduce(t, st::maximum()), t);
          mine[blocks + b.index()] = t + 1;
          v.same(b.broadcast(t + b.pe(), 0), t);
          for (int i = 0; i < blocks; ++i) v.same(mine[blocks + i], t + 1);
          mine[2 * blocks + b.index()] = t + 2;
          b.sync_all();
          const int next = (b.pe() + 1) % b.n_pes();
          for (int i = 0; i < blocks; ++i) v.same(b.g(cell + (2 * blocks + i), next), t + 2);
          b.sync_all();
        }
        v.end(b);
      });
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<trial::trial_case> cases;
  const auto add = [&](const std::string& name, void (*run)(st::machine&, int)) {
    for (const auto& [pes, blocks] : {std::pair{1, 3}, {2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 2}})
      cases.push_back({st::message(name, " of ", pes, " PEs with ", blocks, " blocks"), pes,
                       [run, n = blocks](st::machine& m) { run(m, n); }});
  };
  add("sync_pe", sync_pe);
  add("barrier_all", barrier_all);
  add("sync_all", sync_all);
  add("all_reduce", all_reduce);
  add("all_reduce of 32 bytes", wide_all_reduce);
  add("broadcast", broadcast);
  add("all of them", mixed);
  return trial::all(argc, argv, cases);
}
