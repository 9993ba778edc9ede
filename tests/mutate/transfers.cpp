// What puts, gets, signals, packets, fence and quiet promise, relied on in every way that their comments allow.
#include "trial.hpp"

namespace {

constexpr int rounds = 3;
constexpr st::index_t n = 12;

// A source that may be reused on return: it gets other values at once.
template <class Send>
void reused_source(st::machine& m, const Send& send) {
  auto sources = m.allocate<int>(n);
  auto boxes = trial::zeroed<int>(m, rounds * n);
  auto signals = trial::zeroed<st::signal>(m, 1);
  const auto source = sources.data();
  const auto box = boxes.data();
  const auto arrived = signals.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int right = (b.pe() + 1) % b.n_pes();
        int* mine = source.on(b.pe());
        for (int t = 0; t < rounds; ++t) {
          for (int i = 0; i < n; ++i) mine[i] = t * 100 + i;
          send(b, box + t * n, mine, arrived, right);
        }
        b.barrier_all();
        for (int t = 0; t < rounds; ++t)
          for (int i = 0; i < n; ++i) v.same(box.on(b.pe())[t * n + i], t * 100 + i);
        v.end(b);
      });
}

// The data of a put_signal, what was written here before it, and what was fenced before it.
void signalled(st::machine& m, bool computed) {
  auto boxes = m.allocate<int>(n);
  auto sources = m.allocate<int>(n);
  auto locals = m.allocate<int>(1);
  auto earliers = m.allocate<int>(1);
  auto signals = trial::zeroed<st::signal>(m, 2);
  const auto box = boxes.data();
  const auto local = locals.data();
  const auto earlier = earliers.data();
  const auto source = sources.data();
  const auto arrived = signals.data();
  const auto taken = signals.data() + 1;
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int right = (b.pe() + 1) % b.n_pes();
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        for (int t = 1; t <= rounds; ++t) {
          const auto number = static_cast<std::uint64_t>(t);
          b.wait(taken, number - 1, right);
          *local.on(b.pe()) = t * 7;
          b.p(earlier, t * 5, right);
          b.fence();
          const auto value = [&](st::index_t i) { return t * 100 + static_cast<int>(i); };
          b.for_each(n, [&](st::index_t i) { source.on(b.pe())[i] = value(i); });
          if (computed)
            b.put_signal(box, value, n, arrived, number, right);
          else
            b.put_signal(box, source.on(b.pe()), n, arrived, number, right);
          b.wait(arrived, number, left);
          for (int i = 0; i < n; ++i) v.same(box.on(b.pe())[i], t * 100 + i);
          v.same(*earlier.on(b.pe()), t * 5);
          v.same(b.g(local, left), t * 7);
          b.signal_set(taken, number, left);
        }
        v.end(b);
      });
}

// signal_set: what was written here before, and puts before quiet, also to others than who is told.
void told(st::machine& m) {
  auto boxes = m.allocate<int>(n);
  auto locals = m.allocate<int>(1);
  auto signals = trial::zeroed<st::signal>(m, 2);
  const auto box = boxes.data();
  const auto local = locals.data();
  const auto done = signals.data();
  const auto passed_on = signals.data() + 1;
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        if (b.pe() == 0) {
          *local.on(0) = 11;
          b.put_nbi(box, local.on(0), 1, 1);
          b.quiet();
          *local.on(0) = 12;
          b.signal_set(done, 1, 2);
        } else if (b.pe() == 2) {
          b.wait(done, 1, 0);
          v.same(b.g(local, 0), 12);
          b.signal_set(passed_on, 1, 1);
        } else {
          b.wait(passed_on, 1, 2);
          v.same(box.on(1)[0], 11);
        }
        v.end(b);
      });
}

// All PEs to all: one signal for each sender, and one that all add to.
void gathered(st::machine& m) {
  auto boxes = m.allocate<int>(2 * m.size());
  auto signals = trial::zeroed<st::signal>(m, m.size() + 1);
  const auto box = boxes.data();
  const auto arrived = signals.data();
  const auto count = signals.data() + m.size();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int pes = b.n_pes();
        for (int pe = 0; pe < pes; ++pe) {
          const auto value = [&](st::index_t) { return b.pe() + 50; };
          b.put_signal(box + b.pe(), value, 1, arrived + b.pe(), 1, pe);
          b.p(box + (pes + b.pe()), b.pe() + 70, pe);
          b.fence();
          b.signal_add(count, 1, pe);
        }
        b.wait_all(arrived, pes, 1);
        for (int pe = 0; pe < pes; ++pe) v.same(box.on(b.pe())[pe], pe + 50);
        while (!b.test(count, st::compare::ge, static_cast<std::uint64_t>(pes))) {
        }
        for (int pe = 0; pe < pes; ++pe) v.same(box.on(b.pe())[pes + pe], pe + 70);
        v.end(b);
      });
}

void fetched(st::machine& m) {
  auto tables = m.allocate<int>(2 * n);
  auto copies = m.allocate<int>(3 * n);
  const auto table = tables.data();
  const auto copy = copies.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int right = (b.pe() + 1) % b.n_pes();
        for (int i = 0; i < 2 * n; ++i) table.on(b.pe())[i] = b.pe() * 100 + i;
        b.sync_all();
        int* mine = copy.on(b.pe());
        b.get(mine, table, n, right);
        for (int i = 0; i < n; ++i) v.same(mine[i], right * 100 + i);
        b.iget(mine + n, 1, table, 2, n, right);
        for (int i = 0; i < n; ++i) v.same(mine[n + i], right * 100 + 2 * i);
        b.get_nbi(mine + 2 * n, table, n, right);
        v.same(b.g(table + 3, right), right * 100 + 3);
        b.quiet();
        for (int i = 0; i < n; ++i) v.same(mine[2 * n + i], right * 100 + i);
        v.end(b);
      });
}

// Messages as packets in two slots; what comes back is the credit.
void packets(st::machine& m) {
  auto mails = trial::zeroed<st::packet>(m, 2 * n);
  const auto mail = mails.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int other = 1 - b.pe();
        for (int k = 1; k <= 2 * rounds; ++k) {
          const auto number = static_cast<std::uint64_t>(k);
          const auto slot = mail + k % 2 * n;
          const auto content = [&](st::index_t i) {
            return st::packet_content<double>{{static_cast<double>(k * 100 + i)}};
          };
          b.put_packets<double>(slot, content, n, number, other);
          for (st::index_t i = 0; i < n; ++i)
            v.same(b.thread().take_packet<double>(slot + i, number, other).element[0],
                   static_cast<double>(k * 100 + i));
        }
        v.end(b);
      });
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<trial::trial_case> cases;
  const auto add = [&](const std::string& name, const std::vector<int>& sizes, const auto& run) {
    for (const int pes : sizes) cases.push_back({st::message(name, " with ", pes, " PEs"), pes, run});
  };
  const auto source = [&](const std::string& name, const auto& send) {
    add("source of " + name, {2, 3}, [send](st::machine& m) { reused_source(m, send); });
  };
  using box = st::sym<int>;
  using sig = st::sym<st::signal>;
  source("put", [](st::block& b, box to, const int* from, sig, int pe) { b.put(to, from, n, pe); });
  source("put_nbi", [](st::block& b, box to, const int* from, sig, int pe) {
    b.put_nbi(to, from, n, pe);
    b.quiet();
  });
  source("iput", [](st::block& b, box to, const int* from, sig, int pe) {
    b.iput(to, 2, from, 2, n / 2, pe);
    b.iput(to + 1, 2, from + 1, 2, n / 2, pe);
  });
  source("p", [](st::block& b, box to, const int* from, sig, int pe) {
    for (int i = 0; i < n; ++i) b.p(to + i, from[i], pe);
  });
  source("computed put", [](st::block& b, box to, const int* from, sig, int pe) {
    b.put(to, [&](st::index_t i) { return from[i]; }, n, pe);
  });
  source("put_signal", [](st::block& b, box to, const int* from, sig arrived, int pe) {
    b.put_signal(to, from, n, arrived, 1, pe, st::signal_op::add);
  });
  source("computed put_signal", [](st::block& b, box to, const int* from, sig arrived, int pe) {
    b.put_signal(to, [&](st::index_t i) { return from[i]; }, n, arrived, 1, pe, st::signal_op::add);
  });
  add("put_signal", {2, 3}, [](st::machine& m) { signalled(m, false); });
  add("computed put_signal", {2, 3}, [](st::machine& m) { signalled(m, true); });
  add("signal_set", {3}, told);
  add("gathering", {2, 3}, gathered);
  add("gets", {2, 3}, fetched);
  add("packets", {2}, packets);
  return trial::all(argc, argv, cases);
}
