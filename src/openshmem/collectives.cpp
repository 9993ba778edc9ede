#include "collectives.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "contexts.hpp"
#include "memory_access.hpp"
#include "starling/base/index.hpp"
#include "world.hpp"

namespace starling::openshmem {
namespace {

// The arrays of a call: where they are in each member's memory is told at the meeting.
struct arrays {
  world& w;
  const members& m;

  // So many bytes from `at` on, out of a member's source and into its dest.
  void read(int i, std::size_t at, void* to, std::size_t bytes) const {
    w.load(m.pe(i), said_by(m, i).source + at, to, bytes);
  }
  void write(int i, std::size_t at, const void* from, std::size_t bytes) const {
    w.store(m.pe(i), said_by(m, i).dest + at, from, bytes);
  }
  // The same bytes of a source to be looked at: where they are if the member is near, else in `room`.
  const std::byte* look(int i, std::size_t at, std::size_t bytes, std::vector<std::byte>& room) const {
    if (w.is_near(m.pe(i))) return w.on(m.pe(i), said_by(m, i).source + at);
    room.resize(bytes);
    read(i, at, room.data(), bytes);
    return room.data();
  }
  std::byte* own_dest() const { return w.on(w.me(), said_by(m, m.me).dest); }
};

// Bytes of each part that a member combines: where arrays are read by messages, parts are larger.
constexpr std::size_t near_bytes = 8192;
constexpr std::size_t far_bytes = std::size_t{128} << 10;

struct shape {
  std::size_t n;
  std::size_t element;
  std::size_t source_elements;  // that the call reads of each member
  std::size_t dest_elements;    // that it writes
};

arrays begin(const members& m, operation what, void* dest, const void* source, const shape& s, std::uint64_t other = 0,
             std::uint64_t third = 0) {
  world& w = world::here();
  notice mine{what, s.element, s.n, other, third, 0, 0};
  mine.source = w.place(source, bytes_of(s.source_elements, s.element), "source");
  mine.dest = w.place(dest, bytes_of(s.dest_elements, s.element), "dest");
  meet(m, mine);
  return {w, m};
}

int end(const members& m) {
  meet(m, {operation::done});
  return 0;
}

std::size_t times(std::size_t n, int members) { return bytes_of(n, static_cast<std::size_t>(members)); }

std::uint64_t word(std::int64_t n) { return static_cast<std::uint64_t>(n); }

}  // namespace

void barrier_all() {
  quiet(SHMEM_CTX_DEFAULT);
  meet(everyone(), {operation::barrier_all});
}

void sync_all() { meet(everyone(), {operation::sync_all}); }

int team_sync(shmem_team_t team) {
  meet(whole(team), {operation::team_sync});
  return 0;
}

void barrier(const members& m) {
  quiet(SHMEM_CTX_DEFAULT);
  meet(m, {operation::barrier});
}

void sync(const members& m) { meet(m, {operation::sync}); }

int broadcast(const members& m, void* dest, const void* source, std::size_t n, std::size_t element, int root,
              bool to_root) {
  expect<range_error>(root >= 0 && root < m.size, call(), ": PE_root = ", root, "; must be from 0 to ", m.size - 1);
  const bool mine = m.me == root;
  const arrays a =
      begin(m, operation::broadcast, dest, source, {n, element, mine ? n : 0, mine && !to_root ? 0 : n}, word(root));
  if (!mine || to_root) a.read(root, 0, a.own_dest(), n * element);
  return end(m);
}

int collect(const members& m, void* dest, const void* source, std::size_t n, std::size_t element) {
  const arrays a = begin(m, operation::collect, dest, source, {n, element, n, n});
  std::size_t all = 0;
  for (int i = 0; i < m.size; ++i) all += said_by(m, i).n;
  bool fits = true;
  try {
    (void)a.w.place(dest, bytes_of(all, element), "dest");
  } catch (const error&) {
    fits = false;
  }
  for (std::size_t i = 0, at = 0; fits && i < static_cast<std::size_t>(m.size); ++i) {
    const std::size_t theirs = said_by(m, static_cast<int>(i)).n;
    a.read(static_cast<int>(i), 0, a.own_dest() + at * element, theirs * element);
    at += theirs;
  }
  (void)end(m);
  if (!fits) (void)a.w.place(dest, bytes_of(all, element), "dest");  // now that nobody waits for this PE
  return 0;
}

int fcollect(const members& m, void* dest, const void* source, std::size_t n, std::size_t element) {
  const arrays a = begin(m, operation::fcollect, dest, source, {n, element, n, times(n, m.size)});
  const std::size_t bytes = n * element;
  for (int i = 0; i < m.size; ++i) a.read(i, 0, a.own_dest() + static_cast<std::size_t>(i) * bytes, bytes);
  return end(m);
}

int alltoall(const members& m, void* dest, const void* source, std::size_t n, std::size_t element) {
  const std::size_t all = times(n, m.size);
  const arrays a = begin(m, operation::alltoall, dest, source, {n, element, all, all});
  const std::size_t bytes = n * element;
  for (int i = 0; i < m.size; ++i)
    a.read(i, static_cast<std::size_t>(m.me) * bytes, a.own_dest() + static_cast<std::size_t>(i) * bytes, bytes);
  return end(m);
}

int alltoalls(const members& m, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n,
              std::size_t element) {
  expect<range_error>(dst >= 1, call(), ": dst = ", dst, "; must be at least 1");
  expect<range_error>(sst >= 1, call(), ": sst = ", sst, "; must be at least 1");
  const std::size_t all = times(n, m.size);
  const auto reach = [&](std::ptrdiff_t stride) {
    return all == 0 ? 0 : bytes_of(all - 1, static_cast<std::size_t>(stride)) + 1;
  };
  world& w = world::here();
  const arrays a =
      begin(m, operation::alltoalls, dest, source, {n, element, reach(sst), reach(dst)}, word(dst), word(sst));
  const std::size_t to = static_cast<std::size_t>(dst) * element;
  const std::size_t from = static_cast<std::size_t>(sst) * element;
  for (int i = 0; i < m.size && n > 0; ++i) {
    std::byte* here = a.own_dest() + static_cast<std::size_t>(i) * n * to;
    const std::size_t mine = static_cast<std::size_t>(m.me) * n * from;
    w.load(m.pe(i), {here, to, w.on(m.pe(i), said_by(m, i).source + mine), from, element, n});
  }
  return end(m);
}

std::size_t count_of(int nreduce, const void* pWrk) {
  expect<range_error>(nreduce >= 0, call(), ": nreduce = ", nreduce, "; must be at least 0");
  if (nreduce > 0) (void)world::here().place(pWrk, 1, "pWrk");
  return static_cast<std::size_t>(nreduce);
}

// Each member combines a part of the arrays and gives it to all. Nobody else reads that part, so dest may be source.
int reduce_by(const members& m, void* dest, const void* source, std::size_t n, std::size_t element, operation what,
              combination f) {
  const arrays a = begin(m, what, dest, source, {n, element, n, n});
  const index_range mine = share(static_cast<index_t>(n), m.size, m.me);
  const auto end_of_mine = static_cast<std::size_t>(mine.end);
  const std::size_t most = (a.w.has_far() ? far_bytes : near_bytes) / element;
  std::vector<std::byte> buffer(std::min(most, end_of_mine - static_cast<std::size_t>(mine.begin)) * element);
  std::vector<std::byte> room;
  for (auto at = static_cast<std::size_t>(mine.begin); at < end_of_mine;) {
    const std::size_t part = std::min(most, end_of_mine - at);
    a.read(0, at * element, buffer.data(), part * element);
    for (int i = 1; i < m.size; ++i) f(buffer.data(), a.look(i, at * element, part * element, room), part);
    for (int i = 0; i < m.size; ++i) a.write(i, at * element, buffer.data(), part * element);
    at += part;
  }
  return end(m);
}

int scan_by(const members& m, void* dest, const void* source, std::size_t n, std::size_t element, bool inclusive,
            combination f) {
  std::vector<std::byte> result(bytes_of(n, element));  // zeros are zero in all types
  const arrays a = begin(m, inclusive ? operation::inscan : operation::exscan, dest, source, {n, element, n, n});
  const int before = m.me + (inclusive ? 1 : 0);
  std::vector<std::byte> room;
  for (int i = 0; i < before && n > 0; ++i) {
    if (i == 0)
      a.read(0, 0, result.data(), result.size());
    else
      f(result.data(), a.look(i, 0, result.size(), room), n);
  }
  meet(m, {operation::done});  // dest may be source, which now all have read
  if (n > 0) std::memcpy(a.own_dest(), result.data(), result.size());
  return 0;
}

}  // namespace starling::openshmem
