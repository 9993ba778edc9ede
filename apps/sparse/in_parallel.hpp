// Host work in several threads.
#pragma once

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "starling/base/index.hpp"

namespace starling::sparse {

// work(0), ... work(n - 1), each in a thread of its own, as far as the system allows threads, the rest in this one;
// returns when all have, and throws what the first of them threw.
template <class F>
void in_parallel(int n, const F& work) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(n));
  const auto guarded = [&](int i) {
    try {
      work(i);
    } catch (...) {
      failures[static_cast<std::size_t>(i)] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(n));
  int next = 1;
  try {
    while (next < n) {
      threads.emplace_back(guarded, next);
      ++next;
    }
  } catch (const std::system_error&) {  // no more threads
  }
  if (n > 0) guarded(0);
  while (next < n) guarded(next++);
  for (std::thread& t : threads) t.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

// work(range) over parts of n items, as many as `among` workers leave each of the processor's threads; few items are
// one part.
template <class F>
void in_parts(index_t n, int among, const F& work) {
  constexpr index_t least = 4096;
  const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto parts = static_cast<int>(std::clamp<index_t>(n / least, 1, std::max(cores / among, 1)));
  in_parallel(parts, [&](int i) { work(share(n, parts, i)); });
}

}  // namespace starling::sparse
