// put, get and their forms by OpenSHMEM's names: every call, by every kind of group, with both kinds of address, on
// random shapes, against a loop on the host.
#include "starling/shmem/rma.hpp"

#include <algorithm>

#include "support/elements.hpp"
#include "support/memory.hpp"
#include "support/random.hpp"
#include "support/shmem_groups.hpp"
#include "support/test_machine.hpp"

namespace starling::test::rma_tests {
namespace {

enum class call : int {
  put,
  iput,
  ibput,
  p,
  putmem,
  put_nbi,
  putmem_nbi,
  get,
  iget,
  ibget,
  g,
  getmem,
  get_nbi,
  getmem_nbi
};
constexpr call all_calls[] = {call::put,     call::iput,       call::ibput,   call::p,         call::putmem,
                              call::put_nbi, call::putmem_nbi, call::get,     call::iget,      call::ibget,
                              call::g,       call::getmem,     call::get_nbi, call::getmem_nbi};

constexpr bool is_get(call c) { return c >= call::get; }
constexpr bool is_strided(call c) { return c == call::iput || c == call::iget; }
constexpr bool is_in_pieces(call c) { return c == call::ibput || c == call::ibget; }
constexpr bool is_of_one(call c) { return c == call::p || c == call::g; }
constexpr bool is_blocking(call c) {
  return c != call::put_nbi && c != call::putmem_nbi && c != call::get_nbi && c != call::getmem_nbi;
}

constexpr index_t room = 700;

// What is moved: n pieces, of which the i-th begins at source_first + i source_stride of the one side, and at
// dest_first + i dest_stride of the other.
struct shape {
  index_t n, dest_first, dest_stride, source_first, source_stride;
  int shift;  // from PE i to PE i + shift
  index_t piece = 1;
};

shape random_shape(random& r, call c, int n_pes) {
  shape s{is_of_one(c) ? 1 : r.below(100), 1 + r.below(40), 1, 1 + r.below(40), 1, static_cast<int>(r.below(n_pes))};
  if (is_in_pieces(c)) {
    s.piece = r.below(6);
    s.n = r.below(40);
  }
  if (!is_strided(c) && !is_in_pieces(c)) return s;
  s.dest_stride = std::max(index_t{1}, s.piece) + r.below(5);
  s.source_stride = std::max(index_t{1}, s.piece) + r.below(5);
  return s;
}

// `far` is the symmetric address, whichever side that is of.
template <class Group, class T, class Address>
STARLING_HD void make(const Group& who, call c, Address far, T* near, const shape& s, int pe) {
  const auto bytes = s.n * static_cast<index_t>(sizeof(T));
  switch (c) {
    case call::put:
      return shmem::put(who, far, near, s.n, pe);
    case call::iput:
      return shmem::iput(who, far, near, s.dest_stride, s.source_stride, s.n, pe);
    case call::ibput:
      return shmem::ibput(who, far, near, s.dest_stride, s.source_stride, s.piece, s.n, pe);
    case call::p:
      return shmem::p(who, far, *near, pe);
    case call::putmem:
      return shmem::putmem(who, far, near, bytes, pe);
    case call::put_nbi:
      return shmem::put_nbi(who, far, near, s.n, pe);
    case call::putmem_nbi:
      return shmem::putmem_nbi(who, far, near, bytes, pe);
    case call::get:
      return shmem::get(who, near, far, s.n, pe);
    case call::iget:
      return shmem::iget(who, near, far, s.dest_stride, s.source_stride, s.n, pe);
    case call::ibget:
      return shmem::ibget(who, near, far, s.dest_stride, s.source_stride, s.piece, s.n, pe);
    case call::g: {
      const T value = shmem::g(who, far, pe);
      if (who.member() == 0) *near = value;
      return;
    }
    case call::getmem:
      return shmem::getmem(who, near, far, bytes, pe);
    case call::get_nbi:
      return shmem::get_nbi(who, near, far, s.n, pe);
    case call::getmem_nbi:
      return shmem::getmem_nbi(who, near, far, bytes, pe);
  }
}

// What has been got is copied to `seen`, and the sources of puts are written over, as soon as the call allows it.
template <class T>
void run(machine& m, sym<T> dest, sym<T> source, sym<T> seen, caller by, call c, bool pointer, shape s, T over) {
  auto k = STARLING_KERNEL(block & b) {
    const int n = shmem::n_pes(b);
    const int me = shmem::my_pe(b);
    call_by(b, by, [&](const auto& who) {
      const int pe = is_get(c) ? (me + n - s.shift) % n : (me + s.shift) % n;
      T* near = is_get(c) ? dest.on(me) + s.dest_first : source.on(me) + s.source_first;
      const sym<T> far = is_get(c) ? source + s.source_first : dest + s.dest_first;
      if (pointer)
        make(who, c, far.on(me), near, s, pe);
      else
        make(who, c, far, near, s, pe);
      if (!is_blocking(c)) shmem::quiet(who);
      if (is_get(c)) {
        for (index_t i = who.member(); i < room; i += who.members()) seen.on(me)[i] = dest.on(me)[i];
      } else {
        who.sync();
        for (index_t i = who.member(); i < room; i += who.members()) source.on(me)[i] = over;
      }
    });
  };
  m.run(1, k, {.threads = 96});
}

template <class T>
std::vector<T> source_values(std::uint64_t seed, int pe) {
  std::vector<T> v;
  for (index_t i = 0; i < room; ++i) v.push_back(element<T>::of(mix(seed, static_cast<std::uint64_t>(pe), i)));
  return v;
}

template <class T>
void check_arrived(const std::vector<T>& dest, const std::vector<T>& source, const shape& s) {
  std::vector<T> wanted(static_cast<std::size_t>(room), poison_value<T>());
  for (index_t i = 0; i < s.n; ++i)
    for (index_t k = 0; k < s.piece; ++k)
      wanted[static_cast<std::size_t>(s.dest_first + i * s.dest_stride + k)] =
          source[static_cast<std::size_t>(s.source_first + i * s.source_stride + k)];
  index_t wrong = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) wrong += !(dest[i] == wanted[i]);
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("every form of put and get, by every group, to every kind of address", T, std::uint8_t, double,
                   words3) {
  random r(20261);
  INFO(r.seed);
  for (const int n_pes : {1, 3}) {
    auto m = test_machine(n_pes);
    if (!m) return;
    const auto source = m->allocate<T>(room);
    const std::uint64_t seed = r.next();
    for (const call c : all_calls)
      for (const caller by : all_callers)
        for (const bool pointer : {false, true}) {
          const shape s = random_shape(r, c, n_pes);
          CAPTURE(c);
          CAPTURE(by);
          CAPTURE(pointer);
          CAPTURE(s.n);
          for (int pe = 0; pe < n_pes; ++pe) write(*m, source, pe, source_values<T>(seed, pe));
          const auto dest = poisoned<T>(*m, room);
          const auto seen = poisoned<T>(*m, room);
          run<T>(*m, dest.data(), source.data(), seen.data(), by, c, pointer, s, poison_value<T>());
          for (int pe = 0; pe < n_pes; ++pe) {
            const int from = (pe + n_pes - s.shift) % n_pes;
            check_arrived(read(*m, dest, pe), source_values<T>(seed, from), s);
            if (!is_get(c)) continue;
            check_arrived(read(*m, seen, pe), source_values<T>(seed, from), s);
            CHECK(read(*m, source, pe) == source_values<T>(seed, pe));
          }
        }
  }
}

// Each PE writes into its right neighbour's memory in place and reads from its left neighbour's; what is on another
// host gives no pointer.
TEST_CASE("ptr: loads and stores in place, between barriers") {
  auto m = test_machine(3);
  if (!m) return;
  const index_t n = 50;
  auto shown = poisoned<double>(*m, n);
  auto stored = poisoned<double>(*m, n);
  auto loaded = poisoned<double>(*m, n);
  for (int pe = 0; pe < 3; ++pe) {
    std::vector<double> v;
    for (index_t i = 0; i < n; ++i) v.push_back(static_cast<double>(mix(7, static_cast<std::uint64_t>(pe), i) % 1000));
    write(*m, shown, pe, v);
  }
  const sym<double> from = shown.data(), to = stored.data(), into = loaded.data();
  auto k = STARLING_KERNEL(block & b) {
    const int right = (b.pe() + 1) % 3;
    const int left = (b.pe() + 2) % 3;
    double* there = shmem::ptr(b, to.on(b.pe()), right);
    const double* theirs = shmem::ptr(b, from, left);
    b.for_each(n, [&](index_t i) {
      if (there != nullptr) there[i] = from.on(b.pe())[i];
      if (theirs != nullptr) into.on(b.pe())[i] = theirs[i];
    });
    if (there == nullptr) shmem::put(b, to, from.on(b.pe()), n, right);
    if (theirs == nullptr) shmem::get(b, into.on(b.pe()), from, n, left);
    b.barrier_all();
  };
  m->run(1, k);
  for (int pe = 0; pe < 3; ++pe) {
    CHECK(read(*m, stored, pe) == read(*m, shown, (pe + 2) % 3));
    CHECK(read(*m, loaded, pe) == read(*m, shown, (pe + 2) % 3));
  }
}

TEST_CASE("sources that may only be read") {
  auto m = test_machine(2);
  if (!m) return;
  auto source = poisoned<int>(*m, 8);
  auto dest = poisoned<int>(*m, 8);
  for (int pe = 0; pe < 2; ++pe) write(*m, source, pe, {8 * pe, 1, 2, 3, 4, 5, 6, 7});
  const sym<const int> from(source.data().on(0), source.data().stride_bytes());
  const sym<int> to = dest.data();
  auto k = STARLING_KERNEL(block & b) {
    const int other = 1 - b.pe();
    int* mine = to.on(b.pe());
    shmem::get(b, mine, from, 1, other);
    shmem::getmem(b, mine + 1, from + 1, 4, other);
    shmem::getmem(b, mine + 2, from.on(b.pe()) + 2, 4, other);
    shmem::iget(b, mine + 3, from.on(b.pe()) + 3, 2, 2, 2, other);
    const int value = shmem::g(b, from.on(b.pe()) + 7, other);
    if (b.member() == 0) mine[7] = value;
  };
  m->run(1, k);
  for (int pe = 0; pe < 2; ++pe) {
    const int untouched = poison_value<int>();
    CHECK(read(*m, dest, pe) == std::vector<int>{8 * (1 - pe), 1, 2, 3, untouched, 5, untouched, 7});
  }
}

TEST_CASE("which PEs and addresses can be reached") {
  auto m = test_machine(2);
  if (!m) return;
  auto answers = poisoned<int>(*m, 6);
  const sym<int> told = answers.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.member() != 0) return;
    int here = 0;
    int* mine = told.on(b.pe());
    mine[0] = shmem::pe_accessible(b, 0);
    mine[1] = shmem::pe_accessible(b, 2);
    mine[2] = shmem::pe_accessible(b, -1);
    mine[3] = shmem::addr_accessible(b, mine + 1, 1 - b.pe());
    mine[4] = shmem::addr_accessible(b, &here, 1);
    mine[5] = shmem::addr_accessible(b, mine, 2);
  };
  m->run(1, k);
  for (int pe = 0; pe < 2; ++pe) CHECK(read(*m, answers, pe) == std::vector<int>{1, 0, 0, 1, 0, 0});
}

}  // namespace
}  // namespace starling::test::rma_tests
