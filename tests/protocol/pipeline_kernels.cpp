// A one-way pipeline: PE 0 makes items, every PE works on them and hands them on, the last PE checks them. The slots
// are few, so a sender needs a credit from its receiver before it may overwrite one; without it this is a data race.
#include "support/random.hpp"
#include "support/tally.hpp"
#include "support/test_machine.hpp"

namespace starling::test::pipeline_tests {
namespace {

struct pipeline {
  index_t n;  // elements of an item
  int slots;  // items that a PE holds at once
  int items;
  sym<std::uint64_t> inbox;   // [slots][n]
  sym<std::uint64_t> outbox;  // [n]
  sym<signal> came;           // items that have come
  sym<signal> credit;         // items that the next PE has taken
  counter good;

  STARLING_HD static std::uint64_t made(int item, index_t i) { return mix(static_cast<std::uint64_t>(item), i); }
  STARLING_HD static std::uint64_t worked(std::uint64_t x) { return 3 * x + 1; }

  STARLING_HD void operator()(block& b) const {
    const int last = b.n_pes() - 1;
    for (int item = 1; item <= items; ++item) {
      const int slot = item % slots;
      std::uint64_t* out = outbox.on(b.pe());
      if (b.pe() == 0) {
        b.for_each(n, [&](index_t i) { out[i] = made(item, i); });
      } else {
        b.wait(came, item, b.pe() - 1);
        const std::uint64_t* in = inbox.on(b.pe()) + slot * n;
        b.for_each(n, [&](index_t i) { out[i] = worked(in[i]); });
        b.signal_set(credit, item, b.pe() - 1);  // after the reads of all threads
      }
      if (b.pe() == last) {
        check(b, item, out);
      } else {
        if (item > slots) b.wait(credit, item - slots, b.pe() + 1);
        b.sync();
        b.put_signal(inbox + slot * n, out, n, came, item, b.pe() + 1);
      }
      b.sync();  // before the outbox is written again
    }
  }

  STARLING_HD void check(const block& b, int item, const std::uint64_t* out) const {
    index_t wrong = 0;
    b.for_each(n, [&](index_t i) {
      std::uint64_t wanted = made(item, i);
      for (int pe = 1; pe < b.n_pes(); ++pe) wanted = worked(wanted);
      wrong += out[i] != wanted;
    });
    good.add(b, 1, wrong);
  }
};

void run_pipeline(int pes, index_t n, int slots, int items) {
  CAPTURE(pes);
  CAPTURE(n);
  CAPTURE(slots);
  auto m = test_machine(pes);
  if (!m) return;
  const auto inbox = poisoned<std::uint64_t>(*m, slots * n);
  const auto outbox = poisoned<std::uint64_t>(*m, n);
  const auto signals = zeroed<signal>(*m, 2);
  const tally t(*m);
  m->run(1, pipeline{n, slots, items, inbox.data(), outbox.data(), signals.data(), signals.data() + 1, t.counter()},
         {.threads = 128});
  CHECK(t.made() == static_cast<std::uint64_t>(items * (on_gpus() ? 128 : 1)));
  CHECK(t.failed() == 0);
}

TEST_CASE("a pipeline of two PEs with one slot") { run_pipeline(2, 100, 1, 6000); }

TEST_CASE("a pipeline of four PEs with three slots") { run_pipeline(4, 257, 3, 3000); }

TEST_CASE("a pipeline of three PEs with more slots than items are under way") { run_pipeline(3, 5, 64, 5000); }

}  // namespace
}  // namespace starling::test::pipeline_tests
