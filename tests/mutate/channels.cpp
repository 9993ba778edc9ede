// What channels promise, relied on in every way that their comments allow: slots that are used again after a credit,
// sources that are reused at once, answers that are credits, lanes for several senders.
#include "trial.hpp"

namespace {

constexpr st::index_t n = 5;
constexpr int rounds = 5;

int made(int from, std::uint64_t number, st::index_t i) {
  return 1000 * from + 10 * static_cast<int>(number) + static_cast<int>(i);
}

st::index_t length(std::uint64_t number) { return 1 + static_cast<st::index_t>(number * 3 % n); }

// Around a ring with credits; the source is written again as soon as it is sent.
void credited(st::machine& m, st::protocol how, int slots, bool each, bool computed) {
  auto owner = m.allocate_channel<int>(n, {.slots = slots, .how = how});
  auto sources = m.allocate<int>(n);
  const auto c = owner.handle();
  const auto source = sources.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int right = (b.pe() + 1) % b.n_pes();
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        int* mine = source.on(b.pe());
        for (std::uint64_t number = 1; number <= rounds; ++number) {
          const st::index_t size = length(number);
          b.await_credit(c, number, right);
          if (computed) {
            b.send(c, [&](st::index_t i) { return made(b.pe(), number, i); }, size, number, right);
          } else {
            for (st::index_t i = 0; i < size; ++i) mine[i] = made(b.pe(), number, i);
            b.send(c, mine, size, number, right);
            for (st::index_t i = 0; i < size; ++i) mine[i] = -1;
          }
          if (each) {
            st::index_t seen = 0;
            b.receive_each(c, size, number, left, [&](st::index_t i, int value) {
              v.same(value, made(left, number, i));
              ++seen;
            });
            v.same(seen, size);
          } else {
            const auto got = b.receive(c, size, number, left);
            for (st::index_t i = 0; i < size; ++i) v.same(got(i), made(left, number, i));
          }
          b.give_credit(c, number, left);
        }
        v.end(b);
      });
}

// Two that answer each other need two slots and no credits.
void answered(st::machine& m, st::protocol how) {
  auto owner = m.allocate_channel<int>(n, {.slots = 2, .how = how});
  const auto c = owner.handle();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int other = 1 - b.pe();
        for (std::uint64_t number = 1; number <= rounds; ++number) {
          b.send(c, [&](st::index_t i) { return made(b.pe(), number, i); }, n, number, other);
          const auto got = b.receive(c, n, number, other);
          for (st::index_t i = 0; i < n; ++i) v.same(got(i), made(other, number, i));
        }
        v.end(b);
      });
}

// All send to PE 0, each on its lane.
void gathered(st::machine& m, st::protocol how) {
  auto owner = m.allocate_channel<int>(n, {.slots = 1, .lanes = m.size(), .how = how});
  const auto all = owner.handle();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        for (std::uint64_t number = 1; number <= 3; ++number) {
          const auto mine = all.lane(b.pe());
          b.await_credit(mine, number, 0);
          b.send(mine, [&](st::index_t i) { return made(b.pe(), number, i); }, n, number, 0);
          for (int pe = 0; b.pe() == 0 && pe < b.n_pes(); ++pe) {
            const auto got = b.receive(all.lane(pe), n, number, pe);
            for (st::index_t i = 0; i < n; ++i) v.same(got(i), made(pe, number, i));
            b.give_credit(all.lane(pe), number, pe);
          }
        }
        v.end(b);
      });
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<trial::trial_case> cases;
  for (const st::protocol how : {st::protocol::packets, st::protocol::stores}) {
    const std::string way = st::name(how);
    for (const int slots : {1, 2})
      for (const bool each : {false, true})
        for (const bool computed : {false, true})
          cases.push_back({st::message(way, ", ", slots, " slots", each ? ", each" : "", computed ? ", computed" : ""),
                           2, [=](st::machine& m) { credited(m, how, slots, each, computed); }});
    cases.push_back({way + ", answers", 2, [=](st::machine& m) { answered(m, how); }});
    cases.push_back({way + ", lanes", 3, [=](st::machine& m) { gathered(m, how); }});
  }
  return trial::all(argc, argv, cases);
}
