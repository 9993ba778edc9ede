// The host's side: random operations on every PE's memory against a model, and what it allocates.
#include "starling/shmem/world.hpp"

#include "support/elements.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/test_machine.hpp"

namespace starling::test::world_tests {
namespace {

constexpr index_t room = 250;

// What each PE holds, as plain vectors.
template <class T>
using model = std::vector<std::vector<T>>;

template <class T>
void check_same(machine& m, const symmetric_array<T>& x, const model<T>& wanted) {
  for (int pe = 0; pe < m.size(); ++pe) {
    const std::vector<T> seen = read(m, x, pe);
    index_t wrong = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) wrong += !(seen[i] == wanted[static_cast<std::size_t>(pe)][i]);
    CHECK(wrong == 0);
  }
}

template <class T>
std::vector<T> fresh(random& r, index_t n) {
  std::vector<T> v;
  for (index_t i = 0; i < n; ++i) v.push_back(element<T>::of(r.next()));
  return v;
}

enum class call : int { put, putmem, iput, ibput, p, get, getmem, iget, ibget, g, count };

// One random operation, done to the array and to the model.
template <class T>
void one(random& r, shmem::world& w, const symmetric_array<T>& x, model<T>& all) {
  const int pe = static_cast<int>(r.below(w.n_pes()));
  std::vector<T>& theirs = all[static_cast<std::size_t>(pe)];
  const auto c = static_cast<call>(r.below(static_cast<index_t>(call::count)));
  const bool pieces = c == call::ibput || c == call::ibget;
  const bool strided = pieces || c == call::iput || c == call::iget;
  const index_t piece = pieces ? 1 + r.below(3) : 1;
  const index_t n = r.below(30);
  const index_t first = r.below(50);
  const index_t near_stride = strided ? piece + r.below(3) : 1;
  const index_t far_stride = strided ? piece + r.below(3) : 1;
  const auto bytes = n * static_cast<index_t>(sizeof(T));
  std::vector<T> mine = fresh<T>(r, 6 * 30);
  const std::vector<T> before = mine;
  const sym<T> there = x.data() + first;
  const auto at = [&](index_t i) -> T& {
    return theirs[static_cast<std::size_t>(first + i / piece * far_stride + i % piece)];
  };
  const auto near = [&](index_t i) { return static_cast<std::size_t>(i / piece * near_stride + i % piece); };
  const shmem::pe_memory far = w.on(pe);
  CAPTURE(c);
  CAPTURE(pe);
  if (c == call::put) far.put(there, mine.data(), n);
  if (c == call::putmem) far.putmem(there, mine.data(), bytes);
  if (c == call::iput) far.iput(there, mine.data(), far_stride, near_stride, n);
  if (c == call::ibput) far.ibput(there, mine.data(), far_stride, near_stride, piece, n);
  if (c == call::p) far.p(there, mine[0]);
  if (c == call::get) far.get(mine.data(), there, n);
  if (c == call::getmem) far.getmem(mine.data(), there, bytes);
  if (c == call::iget) far.iget(mine.data(), there, near_stride, far_stride, n);
  if (c == call::ibget) far.ibget(mine.data(), there, near_stride, far_stride, piece, n);
  if (c == call::g) mine[0] = far.g(there);
  const bool one_only = c == call::p || c == call::g;
  std::vector<T> wanted = before;
  for (index_t i = 0; i < (one_only ? 1 : n * piece); ++i) {
    if (c < call::get)
      at(i) = before[near(i)];
    else
      wanted[near(i)] = at(i);
  }
  CHECK(mine == wanted);
}

TEST_CASE_TEMPLATE("random puts and gets of the host against a model", T, std::uint8_t, double, words3) {
  random r(20264);
  INFO(r.seed);
  for (const int n_pes : {1, 3}) {
    auto m = test_machine(n_pes);
    if (!m) return;
    shmem::world w(*m);
    CHECK(w.n_pes() == n_pes);
    const auto x = w.malloc<T>(room);
    model<T> all;
    for (int pe = 0; pe < n_pes; ++pe) {
      all.push_back(fresh<T>(r, room));
      w.on(pe).put(x, all.back().data(), room);
    }
    check_same(*m, x, all);
    for (int i = 0; i < 200; ++i) one(r, w, x, all);
    w.barrier_all();
    check_same(*m, x, all);
  }
}

TEST_CASE("calloc gives zeros, align addresses, and free the memory back") {
  auto m = test_machine(2);
  if (!m) return;
  shmem::world w(*m);
  const std::size_t before = m->memory().in_use;
  auto x = w.calloc<double>(1000);
  auto y = w.align<std::uint8_t>(128, 3);
  for (int pe = 0; pe < 2; ++pe) {
    CHECK(read(*m, x, pe) == std::vector<double>(1000, 0.0));
    CHECK(reinterpret_cast<std::uintptr_t>(y.on(pe)) % 128 == 0);
  }
  CHECK(m->memory().in_use > before);
  w.free(x);
  w.free(y);
  CHECK_FALSE(x.allocated());
  CHECK(m->memory().in_use == before);
}

TEST_CASE("signals of the host, and data with them") {
  auto m = test_machine(3);
  if (!m) return;
  random r(20265);
  INFO(r.seed);
  shmem::world w(*m);
  const auto box = w.malloc<int>(10);
  const auto signals = w.malloc<signal>(2);
  const auto words = w.calloc<std::uint64_t>(1);
  const auto x = fresh<int>(r, 10);
  const std::uint64_t value = r.next() / 2;
  w.on(2).put_signal(box, x.data(), 10, signals, value);
  w.on(2).put_signal(box, x.data(), 0, signals.data() + 1, 5, signal_op::add);
  w.on(2).signal_add(signals.data() + 1, 7);
  w.on(1).signal_set(words, value);
  CHECK(read(*m, box, 2) == x);
  CHECK(w.on(2).signal_fetch(signals) == value);
  CHECK(w.on(2).signal_fetch(signals.data() + 1) == 12);
  CHECK(w.on(1).signal_fetch(words) == value);
  CHECK(w.on(0).signal_fetch(signals) == 0);
  CHECK(w.on(0).signal_fetch(words) == 0);
}

TEST_CASE("what OpenSHMEM it is") {
  CHECK(shmem::major_version == 1);
  CHECK(shmem::minor_version >= 5);
  CHECK(std::string(shmem::library_name).size() < 256);  // SHMEM_MAX_NAME_LEN
}

TEST_CASE("ptr: in place on virtual devices, null on GPUs") {
  auto m = test_machine(2);
  if (!m) return;
  shmem::world w(*m);
  const auto x = w.calloc<int>(4);
  int* there = w.on(1).ptr(x);
  CHECK((there == nullptr) == on_gpus());
  if (there == nullptr) return;
  there[2] = 9;
  CHECK(w.on(1).g(x.data() + 2) == 9);
  CHECK(w.on(0).g(x.data() + 2) == 0);
}

}  // namespace
}  // namespace starling::test::world_tests
