// What the collectives of teams promise, relied on in every way that their comments allow: destinations written again
// after a sync, sources reused at once, roots that change, arrays in place, every way that data takes.
#include "trial.hpp"

#include "starling/shmem.hpp"

namespace {

namespace shmem = st::shmem;

constexpr int rounds = 5;
constexpr st::index_t room = 64;  // of an array

int made(int member, int round, st::index_t i) { return 1000 * member + 100 * round + static_cast<int>(i); }

// For each case: the arrays of a PE, and its part in the rounds.
template <class Round>
void each_round(st::machine& m, const shmem::team_options& options, int n_rounds, const Round& round) {
  auto owner = shmem::team_world(m, options);
  auto part = shmem::team_split_strided(m, owner.handle(), m.size() - 1, -1, m.size(), options);
  auto memory = m.allocate<int>(8 * room);
  const shmem::team t = part.handle();
  const auto x = memory.data();
  for (int run = 0; run < 2; ++run)  // the second goes on where the first was
    m.run(
        1, STARLING_KERNEL(st::block & b) {
          trial::verdict v;
          for (int r = 1; r <= n_rounds; ++r) round(b, t, x, r, v);
          v.end(b);
        });
}

// Sources alternate and destinations do; every second round all are told that they may be written.
struct arrays {
  st::sym<int> dest, source;
  int* from;
  const int* got;
  arrays(const st::block& b, const shmem::team& t, st::sym<int> x, int r, st::index_t n) {
    if (r % 2 == 1) shmem::sync(b, t);
    dest = x + (1 + 2 * (r % 2)) * room;
    source = x;
    from = source.on(b.pe());
    got = dest.on(b.pe());
    for (st::index_t i = 0; i < n; ++i) from[i] = made(t.number_of(b.pe()), r, i);
  }
};

void broadcast(st::machine& m, st::index_t n, bool in_place) {
  each_round(m, {.slot_bytes = 64}, 2 * rounds,
             [=](st::block& b, const shmem::team& t, st::sym<int> x, int r, trial::verdict& v) {
               const arrays a(b, t, x, r, n);
               const int root = r % t.size();
               const bool same = in_place && t.number_of(b.pe()) == root;
               if (same)
                 for (st::index_t i = 0; i < n; ++i) a.dest.on(b.pe())[i] = made(root, r, i);
               shmem::broadcast(b, t, a.dest, in_place ? a.dest : a.source, n, root);
               for (st::index_t i = 0; i < n; ++i) v.same(a.got[i], made(root, r, i));
             });
}

void gathered(st::machine& m, st::index_t n) {
  each_round(m, {.slot_bytes = 64}, rounds,
             [=](st::block& b, const shmem::team& t, st::sym<int> x, int r, trial::verdict& v) {
               const arrays a(b, t, x, r, n);
               shmem::fcollect(b, t, a.dest, a.source, n);
               for (int p = 0; p < t.size(); ++p)
                 for (st::index_t i = 0; i < n; ++i) v.same(a.got[p * n + i], made(p, r, i));
             });
}

void collected(st::machine& m, st::index_t most) {
  each_round(m, {.slot_bytes = 64}, rounds,
             [=](st::block& b, const shmem::team& t, st::sym<int> x, int r, trial::verdict& v) {
               const auto count = [&](int p) { return (p + r) % 3 == 0 ? most : (p + 2 * r) % 4; };
               const arrays a(b, t, x, r, most);
               shmem::collect(b, t, a.dest, a.source, count(t.number_of(b.pe())));
               const int* got = a.got;
               for (int p = 0; p < t.size(); ++p)
                 for (st::index_t i = 0; i < count(p); ++i) v.same(*got++, made(p, r, i));
             });
}

void exchanged(st::machine& m, st::index_t n, bool strided) {
  each_round(m, {.slot_bytes = 64}, rounds,
             [=](st::block& b, const shmem::team& t, st::sym<int> x, int r, trial::verdict& v) {
               const int me = t.number_of(b.pe());
               const arrays a(b, t, x, r, 2 * n * t.size());
               const st::index_t step = strided ? 2 : 1;
               if (strided)
                 shmem::alltoalls(b, t, a.dest, a.source, 2, 2, n);
               else
                 shmem::alltoall(b, t, a.dest, a.source, n);
               for (int p = 0; p < t.size(); ++p)
                 for (st::index_t i = 0; i < n; ++i) v.same(a.got[(p * n + i) * step], made(p, r, (me * n + i) * step));
             });
}

// One root for long, which hears of nobody, between collectives in which all hear of all.
void run_ahead(st::machine& m) {
  constexpr st::index_t n = 2;
  each_round(m, {.slot_bytes = 64}, 7,
             [=](st::block& b, const shmem::team& t, st::sym<int> x, int r, trial::verdict& v) {
               if (r == 1) shmem::sync(b, t);
               const auto dest = x + room + 16 * r;
               for (st::index_t i = 0; i < n; ++i) x.on(b.pe())[i] = made(t.number_of(b.pe()), r, i);
               const bool all = r % 4 == 1;
               if (all)
                 shmem::fcollect(b, t, dest, x, n);
               else
                 shmem::broadcast(b, t, dest, x, n, 0);
               for (int p = 0; p < (all ? t.size() : 1); ++p)
                 for (st::index_t i = 0; i < n; ++i) v.same(dest.on(b.pe())[p * n + i], made(p, r, i));
             });
}

enum class fold { sum, inscan, exscan };

void folded(st::machine& m, st::index_t n, st::index_t gather_bytes, fold how, bool in_place) {
  each_round(m, {.slot_bytes = 64, .gather_bytes = gather_bytes}, rounds,
             [=](st::block& b, const shmem::team& t, st::sym<int> x, int r, trial::verdict& v) {
               const int me = t.number_of(b.pe());
               const arrays a(b, t, x, r, n);
               if (in_place)
                 for (st::index_t i = 0; i < n; ++i) a.dest.on(b.pe())[i] = made(me, r, i);
               const auto source = in_place ? a.dest : a.source;
               if (how == fold::sum) shmem::sum_reduce(b, t, a.dest, source, n);
               if (how == fold::inscan) shmem::sum_inscan(b, t, a.dest, source, n);
               if (how == fold::exscan) shmem::sum_exscan(b, t, a.dest, source, n);
               const int upto = how == fold::sum ? t.size() : how == fold::inscan ? me + 1 : me;
               for (st::index_t i = 0; i < n; ++i) {
                 int sum = 0;
                 for (int p = 0; p < upto; ++p) sum += made(p, r, i);
                 v.same(a.got[i], sum);
               }
             });
}

// What a member wrote before a sync, and put before a barrier.
void met(st::machine& m, bool puts) {
  each_round(m, {.slot_bytes = 64}, rounds,
             [=](st::block& b, const shmem::team& t, st::sym<int> x, int r, trial::verdict& v) {
               const int me = t.number_of(b.pe());
               const int size = t.size();
               const auto cell = x + r % 2 * size;
               if (puts) {
                 b.p(cell + me, made(me, r, 0), t.pe((me + 1) % size));
                 shmem::barrier(b, t);
                 v.same(cell.on(b.pe())[(me + size - 1) % size], made((me + size - 1) % size, r, 0));
               } else {
                 *cell.on(b.pe()) = made(me, r, 0);
                 shmem::sync(b, t);
                 v.same(b.g(cell, t.pe((me + 1) % size)), made((me + 1) % size, r, 0));
               }
             });
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<trial::trial_case> cases;
  const auto add = [&](const std::string& name, auto run) {
    for (const int pes : {2, 3}) cases.push_back({name, pes, run});
  };
  add("sync", [](st::machine& m) { met(m, false); });
  add("barrier", [](st::machine& m) { met(m, true); });
  for (const st::index_t n : {3, 12}) {
    add("broadcast", [=](st::machine& m) { broadcast(m, n, false); });
    add("broadcast in place", [=](st::machine& m) { broadcast(m, n, true); });
    add("fcollect", [=](st::machine& m) { gathered(m, n); });
    add("collect", [=](st::machine& m) { collected(m, n); });
    add("alltoall", [=](st::machine& m) { exchanged(m, n == 3 ? 3 : 10, false); });
    add("sum", [=](st::machine& m) { folded(m, n, 1000, fold::sum, false); });
    add("sum in place", [=](st::machine& m) { folded(m, n, 1000, fold::sum, true); });
    add("inscan", [=](st::machine& m) { folded(m, n, 1000, fold::inscan, true); });
    add("exscan", [=](st::machine& m) { folded(m, n, 1000, fold::exscan, false); });
  }
  add("broadcasts one after another", run_ahead);
  add("alltoalls", [](st::machine& m) { exchanged(m, 4, true); });
  add("sum in pieces", [](st::machine& m) { folded(m, 40, 1000, fold::sum, false); });
  add("sum by parts", [](st::machine& m) { folded(m, 20, 0, fold::sum, false); });
  add("sum by parts, in place", [](st::machine& m) { folded(m, 60, 0, fold::sum, true); });
  return trial::all(argc, argv, cases);
}
