// Wrong uses of OpenSHMEM's calls in kernels: pointers that are no symmetric addresses, PEs that do not exist, more
// bytes than an allocation has. Each ends the program with range_error, which names the value and the next step.
#include "starling/shmem/batch.hpp"
#include "starling/shmem/rma.hpp"
#include "support/failure.hpp"
#include "support/levels.hpp"
#include "support/usable.hpp"

namespace starling::test::shmem_rma_tests {
namespace {

enum class call : int { put, getmem, iput, put_signal, put_counted, signal_add, ptr, batch };

struct fixture {
  explicit fixture(machine& m) : data(zeroed<int>(m, 8)), signals(zeroed<signal>(m, 1)) {}
  symmetric_array<int> data;
  symmetric_array<signal> signals;
};

template <class Kernel>
void check_refused(machine& m, const Kernel& k, std::initializer_list<std::string> parts) {
  check_parts(failure_of<range_error>([&] { m.run(2, k); }), parts);
  check_usable(m);
}

TEST_CASE("put to a variable of the kernel") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 3;
  auto k = STARLING_KERNEL(block & b) {
    int here = 0;
    shmem::put(b, &here, x.on(b.pe()), 1, 1 - b.pe());
    b.sync_all();
  };
  check_refused(*m, k,
                {message("shmem_rma_kernels.cpp:", line), "is given for a symmetric address",
                 "not in symmetric memory of its own PE", "pass the symmetric array's data()", "role all"});
}

TEST_CASE("get by a thread from another PE's copy of the array") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 2;
  auto k = STARLING_KERNEL(block & b) {
    if (b.member() == 0 && b.pe() == 0) shmem::get(b.thread(), x.on(0), x.on(1) + 2, 1, 1);
    b.sync_all();
  };
  check_refused(*m, k, {message("shmem_rma_kernels.cpp:", line), "on PE 1)", "own PE 0", "x.on(b.pe())"});
}

TEST_CASE("a null pointer as signal, by a warp") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 4;
  auto k = STARLING_KERNEL(block & b) {
    signal* none = nullptr;
    at_level(b, level::warp,
             [&](const auto& w) { shmem::put_signal(w, x, x.on(w.pe()) + 4, 4, none, 1, signal_op::set, 1 - w.pe()); });
    b.sync_all();
  };
  check_refused(*m, k, {message("shmem_rma_kernels.cpp:", line), "the pointer 0x0 is given for a symmetric address"});
}

TEST_CASE("local memory as symmetric address, on a context") {
  auto m = test_machine(2);
  if (!m) return;
  const fixture f(*m);
  const local_memory local = m->allocate_on(0, 8 * sizeof(int));
  int* mine = reinterpret_cast<int*>(local.data());
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 4;
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() == 0) {
      const shmem::context c(b);
      shmem::p(c, mine, 3, 1);
    }
    (void)x;
    b.sync_all();
  };
  check_refused(*m, k, {message("shmem_rma_kernels.cpp:", line), "is given for a symmetric address"});
}

TEST_CASE("a PE that does not exist, in each kind of call") {
  for (const call c : {call::put, call::getmem, call::iput, call::put_signal, call::put_counted, call::signal_add,
                       call::ptr, call::batch}) {
    CAPTURE(c);
    auto m = test_machine(2);
    if (!m) return;
    const fixture f(*m);
    const sym<int> x = f.data.data();
    const sym<signal> s = f.signals.data();
    auto k = STARLING_KERNEL(block & b) {
      int* mine = x.on(b.pe());
      if (c == call::put) shmem::put(b, mine, mine + 4, 4, 2);
      if (c == call::getmem) shmem::getmem(b, mine, x, 4, -1);
      if (c == call::iput) shmem::iput(b, x, mine, 1, 2, 2, 7);
      if (c == call::put_signal) shmem::put_signal(b, x, mine + 4, 4, s, 1, signal_op::set, 2);
      if (c == call::put_counted) shmem::put_counted(b, x, mine + 4, 4, s, 2);
      if (c == call::signal_add) shmem::signal_add(b, s, 1, 2);
      if (c == call::ptr) *shmem::ptr(b, x, 2) = 1;
      if (c == call::batch) shmem::batch(b, 3).put(x, mine + 4, 4);
      b.sync_all();
    };
    check_refused(*m, k, {"shmem_rma_kernels.cpp:", "of a machine with 2", "PEs are numbered from 0 to 1"});
  }
}

TEST_CASE("more elements than the array has, by a plain pointer") {
  auto m = test_machine(2);
  if (!m || skipped_on_gpus("know the bounds of allocations")) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  const int line = __LINE__ + 1;
  auto k = STARLING_KERNEL(block & b) { shmem::put(b, x.on(b.pe()) + 6, x.on(b.pe()), 4, 1 - b.pe()); };
  check_refused(*m, k,
                {message("put at ", "tests/misuse/shmem_rma_kernels.cpp:", line), "16 bytes at +0x",
                 "not inside one live allocation"});
}

TEST_CASE("a negative stride") {
  auto m = test_machine(2);
  if (!m || skipped_on_gpus("check strides")) return;
  const fixture f(*m);
  const sym<int> x = f.data.data();
  auto k = STARLING_KERNEL(block & b) { shmem::iget(b, x.on(b.pe()), x + 4, 1, -1, 2, 1 - b.pe()); };
  check_refused(*m, k, {"get at ", "not inside one live allocation", "check the size"});
}

}  // namespace
}  // namespace starling::test::shmem_rma_tests
