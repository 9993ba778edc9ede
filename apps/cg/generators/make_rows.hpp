// How the generators of matrices make their rows: all threads of the machine, two passes. A generator knows for every
// row how many entries it has and what they are; nothing but the result is held in memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "cg/names.hpp"

namespace starling::cg {

// While one lives, generators called by its thread use at most `most` threads. The result is the same.
class generator_threads {
 public:
  explicit generator_threads(int most) : before_(limit_) { limit_ = most; }
  ~generator_threads() { limit_ = before_; }
  generator_threads(const generator_threads&) = delete;
  generator_threads& operator=(const generator_threads&) = delete;

  static int count() {
    const int here = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    return limit_ > 0 ? limit_ : here;
  }

 private:
  inline static thread_local int limit_ = 0;
  int before_;
};

// Calls f(range) for pieces of 0 .. n, on several threads when there is enough to do. What f throws is thrown here.
template <class F>
void in_pieces(index_t n, index_t piece, const F& f) {
  std::atomic<index_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  const auto work = [&] {
    try {
      for (index_t begin = next.fetch_add(piece); begin < n; begin = next.fetch_add(piece))
        f(index_range{begin, std::min(n, begin + piece)});
    } catch (...) {
      const std::lock_guard lock(failing);
      failure = std::current_exception();
    }
  };
  std::vector<std::jthread> others(
      static_cast<std::size_t>(std::clamp<index_t>(ceil_div(n, piece) - 1, 0, generator_threads::count() - 1)));
  for (std::jthread& other : others) other = std::jthread(work);
  work();
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

// Calls f(row) for every row.
template <class F>
void for_rows(index_t n, const F& f) {
  constexpr index_t rows_at_a_time = 1024;
  in_pieces(n, rows_at_a_time, [&](index_range rows) {
    for (index_t row = rows.begin; row < rows.end; ++row) f(row);
  });
}

// Makes room for n values. All threads touch the pages first, so that the system clears them side by side.
template <class V>
void make_room(std::vector<V>& v, index_t n) {
  constexpr index_t page = 4096;
  v.reserve(static_cast<std::size_t>(n));
  auto* const bytes = reinterpret_cast<unsigned char*>(v.data());
  in_pieces(n * static_cast<index_t>(sizeof(V)), page * 1024, [&](index_range part) {
    for (index_t at = part.begin; at < part.end; at += page) bytes[at] = 0;
  });
  v.resize(static_cast<std::size_t>(n));
}

// Adds up counts: count[i + 1] holds the number of entries of row i, and then where row i + 1 starts.
inline void starts_from_counts(std::vector<index_t>& count) {
  for (std::size_t i = 1; i < count.size(); ++i) count[i] += count[i - 1];
}

// A square matrix from `rows`, which has count(row) and fill(row, column, value); both are called by several threads.
template <class T, class Rows>
csr<T> make_rows(index_t n, const Rows& rows) {
  csr<T> a;
  a.columns = n;
  a.row_start.assign(static_cast<std::size_t>(n + 1), 0);
  index_t* const start = a.row_start.data();
  for_rows(n, [&](index_t row) { start[row + 1] = rows.count(row); });
  starts_from_counts(a.row_start);
  make_room(a.column, start[n]);
  make_room(a.value, start[n]);
  for_rows(n, [&](index_t row) { rows.fill(row, a.column.data() + start[row], a.value.data() + start[row]); });
  return a;
}

}  // namespace starling::cg
