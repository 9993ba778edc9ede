// What contexts, batches and counted puts promise, relied on in every way that their comments allow.
#include "starling/shmem.hpp"
#include "trial.hpp"

namespace shmem = starling::shmem;

namespace {

constexpr st::index_t n = 12;

// Two contexts to the right neighbour: one is ordered by fence, what the other has put is told of after quiet. Their
// sources are used again as soon as they may be.
void apart(st::machine& m, bool fence) {
  auto boxes = m.allocate<int>(2 * n);
  auto sources = m.allocate<int>(2 * n);
  auto signals = trial::zeroed<st::signal>(m, 2);
  const auto box = boxes.data();
  const auto source = sources.data();
  const auto arrived = signals.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int right = (b.pe() + 1) % b.n_pes();
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        int* mine = source.on(b.pe());
        for (int i = 0; i < 2 * n; ++i) mine[i] = 100 + i;
        {
          const shmem::context one(b);
          const shmem::context other(b);
          shmem::put_nbi(one, box, mine, n, right);
          shmem::put_signal_nbi(other, box + n, mine + n, n, arrived + 1, 1, st::signal_op::set, right);
          if (fence) {
            one.fence();
            shmem::signal_set(one, arrived, 1, right);
            one.quiet();
          } else {
            one.quiet();
            shmem::signal_set(b, arrived, 1, right);
          }
          for (int i = 0; i < n; ++i) mine[i] = 7;
          other.quiet();
          for (int i = 0; i < n; ++i) mine[n + i] = 8;
        }
        b.wait(arrived, 1, left);
        for (int i = 0; i < n; ++i) v.same(box.on(b.pe())[i], 100 + i);
        b.wait(arrived + 1, 1, left);
        for (int i = 0; i < n; ++i) v.same(box.on(b.pe())[n + i], 100 + static_cast<int>(n) + i);
        v.end(b);
      });
}

// The end of a context completes it: its source may be used again, and another PE be told.
void ended(st::machine& m) {
  auto boxes = m.allocate<int>(n);
  auto sources = m.allocate<int>(n);
  auto signals = trial::zeroed<st::signal>(m, 1);
  const auto box = boxes.data();
  const auto source = sources.data();
  const auto arrived = signals.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        if (b.pe() == 0) {
          for (int i = 0; i < n; ++i) source.on(0)[i] = i;
          {
            const shmem::context c(b);
            c.put_nbi(box, source.on(0), n, 1);
          }
          for (int i = 0; i < n; ++i) source.on(0)[i] = 9;
          b.signal_set(arrived, 1, 1);
        } else {
          b.wait(arrived, 1, 0);
          for (int i = 0; i < n; ++i) v.same(box.on(1)[i], i);
        }
        v.end(b);
      });
}

// Many puts under one signal; the sources are used again after quiet.
void batched(st::machine& m) {
  auto boxes = m.allocate<int>(n);
  auto sources = m.allocate<int>(n);
  auto signals = trial::zeroed<st::signal>(m, 1);
  const auto box = boxes.data();
  const auto source = sources.data();
  const auto arrived = signals.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int right = (b.pe() + 1) % b.n_pes();
        int* mine = source.on(b.pe());
        for (int i = 0; i < n; ++i) mine[i] = 50 + i;
        shmem::batch to(b, right);
        for (int i = 0; i < n; i += 3) to.put(box + i, mine + i, 3);
        to.signal_set(arrived, 1);
        to.quiet();
        for (int i = 0; i < n; ++i) mine[i] = 0;
        // A look in a loop instead of a wait.
        while (shmem::signal_fetch(b, arrived) == 0) {
        }
        for (int i = 0; i < n; ++i) v.same(box.on(b.pe())[i], 50 + i);
        v.end(b);
      });
}

// PEs 1 and up share a counter at PE 0.
void counted(st::machine& m) {
  auto boxes = m.allocate<int>(3 * n);
  auto sources = m.allocate<int>(n);
  auto counters = trial::zeroed<st::signal>(m, 1);
  const auto box = boxes.data();
  const auto source = sources.data();
  const auto bytes = counters.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        if (b.pe() > 0) {
          for (int i = 0; i < n; ++i) source.on(b.pe())[i] = b.pe() * 100 + i;
          b.put_counted(box + (b.pe() - 1) * n, source.on(b.pe()), n, bytes, 0);
        } else {
          const auto producers = static_cast<std::uint64_t>(b.n_pes() - 1);
          b.wait(bytes, st::compare::eq, producers * n * sizeof(int));
          for (int pe = 1; pe < b.n_pes(); ++pe)
            for (int i = 0; i < n; ++i) v.same(box.on(0)[(pe - 1) * n + i], pe * 100 + i);
        }
        v.end(b);
      });
}

}  // namespace

int main(int argc, char** argv) {
  return trial::all(argc, argv,
                    {{"two contexts, one fenced", 3, [](st::machine& m) { apart(m, true); }},
                     {"two contexts, each quiet", 2, [](st::machine& m) { apart(m, false); }},
                     {"the end of a context", 2, [](st::machine& m) { ended(m); }},
                     {"a batch", 3, [](st::machine& m) { batched(m); }},
                     {"a shared counter", 4, [](st::machine& m) { counted(m); }}});
}
