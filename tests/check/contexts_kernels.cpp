// What contexts keep apart, and what ptr allows: order and completion on one context are none of another's.
#include "starling/shmem/batch.hpp"
#include "starling/shmem/rma.hpp"
#include "support/checked.hpp"

namespace starling::test::contexts_kernels_tests {
namespace {

constexpr index_t n = 16;

struct fixture {
  machine m = checked_machine(2);
  symmetric_array<int> data = zeroed<int>(m, 2 * n);
  symmetric_array<signal> signals = zeroed<signal>(m, 1);
  sym<int> x = data.data();
  sym<signal> came = signals.data();
};

// PE 1 waits and reads what PE 0 has put.
STARLING_HD void receive(block& b, sym<int> x, sym<signal> came) {
  b.wait(came, 1, 0);
  int sum = 0;
  b.for_each(n, [&](index_t i) { sum += x.on(1)[i]; });
  x.on(1)[n] = sum;
}

enum class ends : int { own_quiet, other_quiet, default_quiet, own_fence, other_fence, default_fence };

// A put on one context, something that completes or orders on it or on another, and a signal.
auto program(const fixture& f, ends how) {
  return [how, x = f.x, came = f.came](block& b) {
    if (b.pe() == 1) return receive(b, x, came);
    const shmem::context mine(b);
    const shmem::context other(b);
    mine.put(x, x.on(0), n, 1);
    if (how == ends::own_quiet) mine.quiet();
    if (how == ends::other_quiet) other.quiet();
    if (how == ends::default_quiet) b.quiet();
    if (how == ends::own_fence) mine.fence();
    if (how == ends::other_fence) other.fence();
    if (how == ends::default_fence) b.fence();
    if (how == ends::other_fence)
      other.signal_set(came, 1, 1);
    else if (how == ends::default_fence || how == ends::default_quiet)
      b.signal_set(came, 1, 1);
    else
      mine.signal_set(came, 1, 1);
  };
}

TEST_CASE("what was put on a context is there after its own quiet or behind its own fence") {
  for (const ends how : {ends::own_quiet, ends::own_fence}) {
    CAPTURE(how);
    fixture f;
    CHECK_NOTHROW(f.m.run(1, program(f, how)));
  }
}

TEST_CASE("quiet and fence of another context, or of the default one, are not for it") {
  for (const ends how : {ends::other_quiet, ends::default_quiet, ends::other_fence, ends::default_fence}) {
    CAPTURE(how);
    fixture f;
    check_finds(f.m, 1, program(f, how), defect::unordered_read, {"contexts_kernels.cpp:", "put"});
  }
}

TEST_CASE("the source of a nonblocking put may be written after quiet of its context, not of another") {
  for (const bool own : {true, false}) {
    CAPTURE(own);
    fixture f;
    auto k = [own, x = f.x](block& b) {
      if (b.pe() == 1) return;
      const shmem::context mine(b);
      const shmem::context other(b);
      mine.put_nbi(x, x.on(0) + n, n, 1);
      if (own)
        mine.quiet();
      else
        other.quiet();
      x.on(0)[n] = 7;
    };
    if (own)
      CHECK_NOTHROW(f.m.run(1, k));
    else
      check_finds(f.m, 1, k, defect::source_reused, {"put_nbi", "contexts_kernels.cpp:"});
  }
}

TEST_CASE("the same of a variable on the stack") {
  for (const bool own : {true, false}) {
    CAPTURE(own);
    fixture f;
    auto k = [own, x = f.x](block& b) {
      if (b.pe() == 1) return;
      volatile int value = 3;
      const shmem::context mine(b);
      mine.put_nbi(x, const_cast<int*>(&value), 1, 1);
      if (own)
        mine.quiet();
      else
        b.quiet();
      value = 4;
    };
    if (own)
      CHECK_NOTHROW(f.m.run(1, k));
    else
      check_finds(f.m, 1, k, defect::source_reused, {"put_nbi", "contexts_kernels.cpp:"});
  }
}

TEST_CASE("a releasing atomic completes what its own context has issued") {
  for (const bool own : {true, false}) {
    CAPTURE(own);
    fixture f;
    auto words = zeroed<std::uint64_t>(f.m, 1);
    auto k = [own, x = f.x, w = words.data()](block& b) {
      if (b.pe() == 1) {
        while (b.atomic_fetch(w, 1, cuda::memory_order_acquire) == 0) {
        }
        x.on(1)[n] = x.on(1)[0];
        return;
      }
      const shmem::context mine(b);
      mine.put(x, x.on(0), n, 1);
      if (own)
        mine.atomic_set(w, 1, 1, cuda::memory_order_release);
      else
        b.atomic_set(w, 1, 1, cuda::memory_order_release);
    };
    if (own)
      CHECK_NOTHROW(f.m.run(1, k));
    else
      check_finds(f.m, 1, k, defect::unordered_read, {"contexts_kernels.cpp:"});
  }
}

TEST_CASE("a batch's signal covers its own puts and no others") {
  for (const bool inside : {true, false}) {
    CAPTURE(inside);
    fixture f;
    auto k = [inside, x = f.x, came = f.came](block& b) {
      if (b.pe() == 1) return receive(b, x, came);
      shmem::batch to(b, 1);
      to.put(x, x.on(0), n / 2);
      if (inside)
        to.put(x + n / 2, x.on(0) + n / 2, n / 2);
      else
        b.put(x + n / 2, x.on(0) + n / 2, n / 2, 1);
      to.signal_set(came, 1);
    };
    if (inside)
      CHECK_NOTHROW(f.m.run(1, k));
    else
      check_finds(f.m, 1, k, defect::unordered_read, {"contexts_kernels.cpp:"});
  }
}

TEST_CASE("who waits for fewer bytes than are counted reads too early") {
  for (const bool all : {true, false}) {
    CAPTURE(all);
    machine m = one_thread_machine(3);
    auto data = zeroed<int>(m, 2 * n);
    auto signals = zeroed<signal>(m, 1);
    auto k = [all, x = data.data(), bytes = signals.data()](block& b) {
      if (b.pe() > 0) return b.put_counted(x + (b.pe() - 1) * n, x.on(b.pe()), n, bytes, 0);
      b.wait(bytes, (all ? 2 : 1) * sizeof(int) * n);
      int sum = 0;
      for (index_t i = 0; i < 2 * n; ++i) sum += x.on(0)[i];
      if (sum != 0) b.signal_set(bytes, 0, 0);
    };
    if (all)
      CHECK_NOTHROW(m.run(1, k));
    else
      check_finds(m, 1, k, defect::unordered_read, {"contexts_kernels.cpp:", "put_signal"});
  }
}

TEST_CASE("another PE's memory in place: by ptr, and in order") {
  enum class way : int { ordered, without_ptr, unordered };
  for (const way how : {way::ordered, way::without_ptr, way::unordered}) {
    CAPTURE(how);
    fixture f;
    auto k = [how, x = f.x, came = f.came](block& b) {
      if (b.pe() == 1) {
        if (how != way::unordered) b.wait(came, 1, 0);
        x.on(1)[n] = x.on(1)[0];
        return;
      }
      int* there = how == way::without_ptr ? x.on(1) : shmem::ptr(b, x, 1);
      there[0] = 5;
      b.signal_set(came, 1, 1);
    };
    if (how == way::ordered)
      CHECK_NOTHROW(f.m.run(1, k));
    else
      check_finds(f.m, 1, k, how == way::unordered ? defect::unordered_write : defect::foreign_access,
                  {"contexts_kernels.cpp:"});
  }
}

TEST_CASE("a pointer that is no symmetric address") {
  fixture f;
  check_finds(f.m, 1,
              [x = f.x](block& b) {
                int here = 0;
                shmem::put(b, &here, x.on(b.pe()), 1, 1 - b.pe());
              },
              defect::out_of_bounds, {"contexts_kernels.cpp:", "is given for a symmetric address", "x.on(b.pe())"});
  fixture g;
  check_finds(g.m, 1, [x = g.x](block& b) { shmem::put(b, x.on(1 - b.pe()), x.on(b.pe()), 1, 1 - b.pe()); },
              defect::foreign_access, {"contexts_kernels.cpp:", "is given for a symmetric address"});
}

}  // namespace
}  // namespace starling::test::contexts_kernels_tests
