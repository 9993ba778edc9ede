// Accesses to memory that check mode finds wrong: by themselves, or because nothing orders two of them.
#include "support/checked.hpp"

namespace starling::test::accesses_kernels_tests {
namespace {

TEST_CASE("a signal that is raised beside a put does not cover it; after a fence it does") {
  machine m = checked_machine(2);
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 8);
  const auto seen = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const sym<int> y = seen.data();
  const auto kernel = [=](bool fenced) {
    return STARLING_KERNEL(block & b) {
      const int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
      if (b.pe() == 0) {
        b.put(x, values, 8, 1);
        if (fenced) b.fence();
        b.signal_set(s, 1, 1);
      } else {
        b.wait(s, 1, 0);
        *y.on(1) = x.on(1)[7];
      }
    };
  };
  check_finds(m, 1, kernel(false), defect::unordered_read,
              {"PE 0 block 0 (all) writes them by put at", "at tests/check/accesses_kernels.cpp:19",
               "PE 1 block 0 (all) reads them at tests/check/accesses_kernels.cpp:24",
               "wait for the signal that covers this put"});
  m.run(1, kernel(true));
  CHECK(read(m, seen, 1)[0] == 8);
}

TEST_CASE("a fence orders nothing at other PEs") {
  machine m = checked_machine(3);
  const auto signals = zeroed<signal>(m, 1);
  const auto data = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const auto kernel = [=](bool quiet) {
    return STARLING_KERNEL(block & b) {
      if (b.pe() == 0) {
        b.p(x, 5, 1);
        if (quiet)
          b.quiet();
        else
          b.fence();
        b.signal_set(s, 1, 2);
      } else if (b.pe() == 2) {
        b.wait(s, 1, 0);
        (void)b.g(x, 1);
      }
    };
  };
  check_finds(m, 1, kernel(false), defect::unordered_read, {"by put at", "by the call shown below"});
  m.run(1, kernel(true));
}

TEST_CASE("a buffer is overwritten while the receiver may still read it") {
  machine m = one_thread_machine(2);
  const auto signals = zeroed<signal>(m, 2);
  const auto data = zeroed<int>(m, 4);
  const auto sums = zeroed<int>(m, 1);
  const sym<signal> s = signals.data();
  const sym<int> x = data.data();
  const sym<int> y = sums.data();
  const auto kernel = [=](bool credit) {
    return STARLING_KERNEL(block & b) {
      for (std::uint64_t t = 1; t <= 4; ++t) {
        if (b.pe() == 0) {
          if (credit) b.wait(s + 1, t - 1, 1);
          const int v = static_cast<int>(t);
          const auto value = [=](index_t) { return v; };
          b.put_signal(x, value, 4, s, t, 1);
        } else {
          b.wait(s, t, 0);
          *y.on(1) += x.on(1)[3];
          if (credit) b.signal_set(s + 1, t, 0);
        }
      }
    };
  };
  check_finds(m, 1, kernel(false), defect::unordered_write, {"put_signal", "(a credit)"});
  m.run(1, kernel(true));
  CHECK(read(m, sums, 1)[0] == 1 + 2 + 3 + 4);
}

TEST_CASE("the source of put_nbi and the destination of get_nbi belong to the call until quiet") {
  machine m = one_thread_machine(2);
  const auto data = zeroed<int>(m, 8);
  const sym<int> x = data.data();
  const auto kernel = [=](bool quiet, bool get) {
    return STARLING_KERNEL(block & b) {
      if (b.pe() != 0) return;
      if (get)
        b.get_nbi(x.on(0), x + 4, 4, 1);
      else
        b.put_nbi(x + 4, x.on(0), 4, 1);
      if (quiet) b.quiet();
      x.on(0)[2] = 1;
    };
  };
  check_finds(m, 1, kernel(false, false), defect::source_reused,
              {"reads them by put", "not complete before quiet", "quiet()"});
  check_finds(m, 1, kernel(false, true), defect::source_reused, {"writes them by get", "quiet()"});
  m.run(1, kernel(true, false));
  m.run(1, kernel(true, true));
}

TEST_CASE("blocks of one PE, with and without a barrier between") {
  machine m = checked_machine(1);
  const auto data = zeroed<int>(m, 2);
  const sym<int> x = data.data();
  const auto kernel = [=](bool barrier) {
    return STARLING_KERNEL(block & b) {
      x.on(0)[b.index()] = b.index() + 1;
      if (barrier) b.sync_pe();
      const int other = x.on(0)[1 - b.index()];
      if (barrier) b.sync_pe();
      x.on(0)[b.index()] = other;
    };
  };
  check_finds(m, 2, kernel(false), defect::unordered_read, {"4 bytes at +0x", "order the two by sync_pe or a signal"});
  m.run(2, kernel(true));
  CHECK(read(m, data, 0) == std::vector<int>{2, 1});
}

TEST_CASE("a reduction does not order the memory of other PEs; sync_all does") {
  machine m = checked_machine(2);
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const auto kernel = [=](bool sync) {
    return STARLING_KERNEL(block & b) {
      *x.on(b.pe()) = b.pe();
      if (sync)
        b.sync_all();
      else
        (void)b.all_reduce(1, plus{});
      (void)b.g(x, 1 - b.pe());
    };
  };
  check_finds(m, 1, kernel(false), defect::unordered_read, {"writes them at"});
  m.run(1, kernel(true));
}

TEST_CASE("accesses that are wrong by themselves") {
  machine m = checked_machine(2);
  const auto data = zeroed<int>(m, 64);
  const auto fresh = m.allocate<double>(4);
  const sym<int> x = data.data();
  const sym<double> f = fresh.data();
  check_finds(m, 1, STARLING_KERNEL(block & b) { x.on(b.pe())[64] = 1; }, defect::out_of_bounds,
              {"writes 4 bytes at +0x", "0 bytes behind the end of an allocation of 256", "accesses_kernels.cpp:"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { x.on(b.pe())[0] = x.on(b.pe())[-1]; }, defect::out_of_bounds,
              {"reads 4 bytes", "outside of every allocation"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { x.on(1 - b.pe())[0] = 1; }, defect::foreign_access,
              {"memory of another PE, with a plain store", "use put, p or put_signal"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { x.on(b.pe())[0] = static_cast<int>(f.on(b.pe())[1]); },
              defect::uninitialised, {"reads 8 bytes", "byte 8 of an allocation of 32", "which nothing has written"});
  check_finds(m, 1,
              STARLING_KERNEL(block & b) {
                const int v[2] = {1, 2};
                b.put(x + 63, v, 2, 1 - b.pe());
              },
              defect::out_of_bounds, {"calls put at", "8 bytes at +0x", "not inside one live allocation"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.p(x, 1, 2); }, defect::out_of_bounds, {"names PE 2", "from 0 to 1"});
}

TEST_CASE("the near side of a transfer lies in one allocation of the own PE, or in scratch") {
  machine m = checked_machine(2);
  const auto small = zeroed<int>(m, 4);
  const auto large = zeroed<int>(m, 256);
  const sym<int> x = small.data();
  const sym<int> y = large.data();
  check_finds(
      m, 1, STARLING_KERNEL(block & b) { b.get(x.on(b.pe()), y, 256, b.pe()); }, defect::out_of_bounds,
      {"calls get at", "accesses_kernels.cpp:", "its destination, 1024 bytes", "not inside one live allocation"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.get_nbi(x.on(b.pe()) + 1, y, 4, b.pe()); }, defect::out_of_bounds,
              {"calls get_nbi at", "its destination, 16 bytes"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.put(y, x.on(b.pe()), 5, 1 - b.pe()); }, defect::out_of_bounds,
              {"calls put at", "its source, 20 bytes"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.iput(y, 1, x.on(b.pe()), 80, 2, 1 - b.pe()); },
              defect::out_of_bounds, {"calls put at", "its source, 4 bytes"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.put(y, x.on(1 - b.pe()), 4, 1 - b.pe()); }, defect::foreign_access,
              {"its source, 16 bytes", "memory of another PE", "own PE"});
  check_finds(m, 1, STARLING_KERNEL(block & b) { b.get(x.on(1 - b.pe()), y, 4, b.pe()); }, defect::foreign_access,
              {"its destination, 16 bytes", "memory of another PE"});
  m.run(
      1, STARLING_KERNEL(block & b) {
        const int values[4] = {1, 2, 3, 4};
        b.put(y, values, 4, b.pe());
        b.quiet();
        b.get(x.on(b.pe()), y, 4, b.pe());
      });
  CHECK(read(m, small, 1) == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("the near side of a transfer does not leave scratch") {
  machine m = checked_machine(1);
  const auto data = zeroed<int>(m, 64);
  const sym<int> x = data.data();
  const auto kernel = [=](index_t n) {
    return STARLING_KERNEL(block & b) { b.get(b.scratch<int>(4), x, n, 0); };
  };
  std::string found;
  try {
    m.run(1, kernel(5), {.scratch_bytes = 32});
  } catch (const check_error& e) {
    found = e.what();
  }
  CHECK(found.find("its destination, 20 bytes at byte 0 of 16 of scratch memory, is not inside") != std::string::npos);
  m.run(1, kernel(4), {.scratch_bytes = 32});
}

TEST_CASE("what has no value is handed on as such by puts and gets, and given one by writes") {
  machine m = one_thread_machine(2);
  const auto fresh = m.allocate<int>(4);
  const auto copies = m.allocate<int>(4);
  const auto signals = zeroed<signal>(m, 1);
  const sym<int> f = fresh.data();
  const sym<int> c = copies.data();
  const sym<signal> s = signals.data();
  const auto kernel = [=](int element) {
    return STARLING_KERNEL(block & b) {
      if (b.pe() == 0) {
        f.on(0)[1] = 7;
        b.put_signal(c, f.on(0), 4, s, 1, 1);
      } else {
        b.wait(s, 1, 0);
        c.on(1)[0] = c.on(1)[element];
      }
    };
  };
  m.run(1, kernel(1));
  CHECK(copies.on(1)[0] == 7);
  m.fill(signals.on(1), 0, sizeof(signal));
  check_finds(m, 1, kernel(2), defect::uninitialised, {"byte 8 of an allocation of 16"});
}

TEST_CASE("atomic operations do not disturb each other; a plain access beside them does") {
  machine m = one_thread_machine(2);
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = data.data();
  const auto kernel = [=](bool plain) {
    return STARLING_KERNEL(block & b) {
      (void)b.atomic_fetch_add(x, 1, 0);
      if (plain && b.pe() == 0) *x.on(0) += 1;
    };
  };
  m.run(2, kernel(false));
  CHECK(read(m, data, 0)[0] == 4);
  const auto e = finding_of([&] { m.run(2, kernel(true)); });
  if (e) check_parts(e->what(), {"by an atomic operation", "PE 0 block 0 (all)"});
}

TEST_CASE("bytes of one word that belong to different blocks are apart") {
  machine m = checked_machine(1);
  const auto data = zeroed<unsigned char>(m, 8);
  const sym<unsigned char> x = data.data();
  m.run(8, STARLING_KERNEL(block & b) { x.on(0)[b.index()] = static_cast<unsigned char>(b.index()); });
  CHECK(read(m, data, 0) == std::vector<unsigned char>{0, 1, 2, 3, 4, 5, 6, 7});
}

}  // namespace
}  // namespace starling::test::accesses_kernels_tests
