// Host work in several threads.
#pragma once

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "starling/base/index.hpp"

namespace starling::sparse {

// work(0), ... work(n - 1), each in a thread of its own; returns when all have, and throws what the first of them
// threw.
template <class F>
void in_parallel(int n, const F& work) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (int i = 1; i < n; ++i)
    threads.emplace_back([&, i] {
      try {
        work(i);
      } catch (...) {
        failures[static_cast<std::size_t>(i)] = std::current_exception();
      }
    });
  try {
    if (n > 0) work(0);
  } catch (...) {
    failures[0] = std::current_exception();
  }
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
