// What queue pairs promise to the calls of blocks, relied on in every way: on short rings, so that slots are used
// again, by calls of all kinds in turn.
#include "starling/shmem.hpp"
#include "trial.hpp"

namespace shmem = starling::shmem;

namespace {

constexpr st::index_t n = 40;
constexpr int rounds = 6;

// Puts with signals there and back; the source is written again when the call allows it.
void rally(st::machine& m) {
  auto boxes = m.allocate<int>(n);
  auto sources = m.allocate<int>(n);
  auto signals = trial::zeroed<st::signal>(m, 1);
  m.run(1, [box = boxes.data(), source = sources.data(), came = signals.data()](st::block& b) {
    trial::verdict v;
    const int other = 1 - b.pe();
    for (int r = 1; r <= rounds; ++r) {
      if (b.pe() == 1) b.wait(came, static_cast<std::uint64_t>(r), other);
      if (b.pe() == 1)
        for (int i = 0; i < n; ++i) v.same(box.on(1)[i], 100 * r + i);
      for (int i = 0; i < n; ++i) source.on(b.pe())[i] = 100 * r + i;
      if (r % 2 == 0) {
        b.put_signal(box, source.on(b.pe()), n, came, static_cast<std::uint64_t>(r), other);
      } else {
        b.put(box, source.on(b.pe()), n, other);
        b.fence();
        b.signal_add(came, 1, other);
      }
      for (int i = 0; i < n; ++i) source.on(b.pe())[i] = -1;
      if (b.pe() == 0) b.wait(came, static_cast<std::uint64_t>(r), other);
      if (b.pe() == 0)
        for (int i = 0; i < n; ++i) v.same(box.on(0)[i], 100 * r + i);
    }
    v.end(b);
  });
}

// Puts without a signal, told of after quiet, or behind a fence; their sources are used again after quiet.
void completed(st::machine& m, bool fence) {
  auto boxes = m.allocate<int>(4 * n);
  auto sources = m.allocate<int>(4 * n);
  auto signals = trial::zeroed<st::signal>(m, 1);
  m.run(1, [fence, box = boxes.data(), source = sources.data(), came = signals.data()](st::block& b) {
    trial::verdict v;
    if (b.pe() == 0) {
      for (int i = 0; i < 4 * n; ++i) source.on(0)[i] = i;
      for (int k = 0; k < 4; ++k) b.put_nbi(box + k * n, source.on(0) + k * n, n, 1);
      if (fence)
        b.fence();
      else
        b.quiet();
      b.signal_set(came, 1, 1);
      b.quiet();
      for (int i = 0; i < 4 * n; ++i) source.on(0)[i] = -1;
    } else {
      b.wait(came, 1, 0);
      for (int i = 0; i < 4 * n; ++i) v.same(box.on(1)[i], i);
    }
    v.end(b);
  });
}

// A word that is put behind a fence, and waited for as data.
void flagged(st::machine& m) {
  auto boxes = m.allocate<int>(2 * n);
  auto words = trial::zeroed<int>(m, 1);
  m.run(1, [box = boxes.data(), word = words.data()](st::block& b) {
    trial::verdict v;
    const int other = 1 - b.pe();
    for (int i = 0; i < n; ++i) box.on(b.pe())[n + i] = 10 * b.pe() + i;
    b.put_nbi(box, box.on(b.pe()) + n, n, other);
    b.fence();
    b.p(word, 1, other);
    b.wait_until(word, st::compare::eq, 1, other);
    for (int i = 0; i < n; ++i) v.same(box.on(b.pe())[i], 10 * other + i);
    b.quiet();
    v.end(b);
  });
}

// Gets, single values, strides, sources on the stack, atomic operations: all kinds of entries in one ring.
void mixed(st::machine& m) {
  auto numbers = trial::zeroed<std::int64_t>(m, 3 * n);
  auto spares = m.allocate<std::int64_t>(n);
  auto counters = trial::zeroed<std::int64_t>(m, 4);
  m.run(1, [x = numbers.data(), count = counters.data(), spare = spares.data()](st::block& b) {
    trial::verdict v;
    const int other = 1 - b.pe();
    std::int64_t mine[3 * n];
    for (int i = 0; i < 3 * n; ++i) mine[i] = 1000 * b.pe() + i;
    b.put(x, mine, 3 * n, other);
    b.barrier_all();
    std::int64_t back[3 * n];
    b.get(back, x, 3 * n, other);
    for (int i = 0; i < 3 * n; ++i) v.same(back[i], mine[i]);
    b.get(spare.on(b.pe()), x, n, other);
    for (int i = 0; i < n; ++i) v.same(spare.on(b.pe())[i], mine[i]);
    b.barrier_all();
    for (int r = 0; r < 3; ++r) {
      b.p(x + r, static_cast<std::int64_t>(50 + r + b.pe()), other);
      (void)b.atomic_fetch_add(count, 1, 0);
      b.atomic_inc(count + 1, 1);
      b.atomic_add(count + 2, static_cast<std::int64_t>(b.pe() + 1), 1);
    }
    b.iput(x + 10, 2, mine, 3, 5, other);
    b.barrier_all();
    for (int r = 0; r < 3; ++r) v.same(x.on(b.pe())[r], static_cast<std::int64_t>(50 + r + other));
    for (int i = 0; i < 5; ++i) v.same(x.on(b.pe())[10 + 2 * i], static_cast<std::int64_t>(1000 * other + 3 * i));
    v.same(b.atomic_fetch(count, 0), std::int64_t{6});
    v.same(b.atomic_fetch(count + 1, 1), std::int64_t{6});
    v.same(b.atomic_fetch(count + 2, 1), std::int64_t{9});
    v.end(b);
  });
}

// A lock at PE 0, by comparing and swapping with acquire, given back with release.
void locked(st::machine& m) {
  auto words = trial::zeroed<std::int64_t>(m, 2);
  m.run(1, [lock = words.data(), sum = words.data() + 1](st::block& b) {
    for (int r = 0; r < 2; ++r) {
      while (b.atomic_compare_swap(lock, 0, 1, 0, cuda::memory_order_acquire) != 0) {
      }
      b.p(sum, b.g(sum, 0) + 1, 0);
      b.atomic_set(lock, 0, 0, cuda::memory_order_release);
    }
    b.barrier_all();
    trial::verdict v;
    v.same(b.g(sum, 0), std::int64_t{4});
    v.end(b);
  });
}

// Contexts have queues of their own: quiet of one is none of the other.
void apart(st::machine& m) {
  auto boxes = m.allocate<int>(2 * n);
  auto sources = m.allocate<int>(2 * n);
  auto signals = trial::zeroed<st::signal>(m, 2);
  m.run(1, [box = boxes.data(), source = sources.data(), came = signals.data()](st::block& b) {
    trial::verdict v;
    if (b.pe() == 0) {
      for (int i = 0; i < 2 * n; ++i) source.on(0)[i] = i;
      const shmem::context one(b);
      const shmem::context other(b);
      shmem::put_nbi(one, box, source.on(0), n, 1);
      shmem::put_signal_nbi(other, box + n, source.on(0) + n, n, came + 1, 1, st::signal_op::set, 1);
      one.quiet();
      shmem::signal_set(b, came, 1, 1);
      for (int i = 0; i < n; ++i) source.on(0)[i] = -1;
    } else {
      for (int k = 0; k < 2; ++k) {
        b.wait(came + k, 1, 0);
        for (int i = 0; i < n; ++i) v.same(box.on(1)[k * n + i], static_cast<int>(k * n) + i);
      }
    }
    v.end(b);
  });
}

// A card that fails ends what waits. Not in check mode.
void lost(st::machine&) {
  st::machine m = st::machine::host(2, {.memory_bytes = std::size_t{1} << 22,
                                        .faults = {{st::lose_link{{.pe = 0, .nth = 3}}}},
                                        .hosts = {0, 1},
                                        .queue_depth = 4});
  auto boxes = trial::zeroed<int>(m, n);
  auto signals = trial::zeroed<st::signal>(m, 1);
  try {
    m.run(1,
          [box = boxes.data(), came = signals.data()](st::block& b) {
            if (b.pe() == 0)
              for (int i = 0; i < 5; ++i)
                b.put_signal_nbi(box, box.on(0), n, came, static_cast<std::uint64_t>(i + 1), 1);
            b.wait(came, 5, 0);
          },
          {.deadline = 2});
  } catch (const st::network_error& e) {
    if (e.pe() == 0 && e.peer() == 1 && e.operation() == st::operation::put) return;
    throw trial::wrong_result(st::message("another call is named: ", e.what()));
  }
  throw trial::wrong_result("a card that failed was not noticed");
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<int> two = {0, 1};
  return trial::all(argc, argv,
                    {{"rally on a ring of 4", 2, rally, two, 4},
                     {"rally on a ring of 2", 2, rally, two, 2},
                     {"fence", 2, [](st::machine& m) { completed(m, true); }, two, 8},
                     {"quiet", 2, [](st::machine& m) { completed(m, false); }, two, 2},
                     {"word", 2, flagged, two, 4},
                     {"all kinds", 2, mixed, two, 4},
                     {"lock", 2, locked, two, 4},
                     {"contexts", 2, apart, two, 4},
                     {"lost link", 2, lost, {}, 64}});
}
