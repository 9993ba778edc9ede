// What the threads of a block have touched since its last barrier: two of them at the same bytes, one writing, is a
// mistake that no other block is needed for, unless one has released what the other has acquired, or a barrier of some
// of them, a warp, was between. Threads that all write the same are only counted.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

#include "access_marks.hpp"
#include "starling/device/report.hpp"

namespace starling::check {

// In place of a thread's number: a call of the block, whose threads share the bytes among themselves in any way.
inline constexpr int all_threads = -1;

// How a thread touches bytes of a line: by loads and stores, or in a call; in a call of a warp, `count` of them from
// number `thread` on do, which share the bytes in any way.
struct thread_access {
  int thread = 0;
  int count = 1;
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  bool atomic = false;
  const char* call = nullptr;  // null: by loads and stores
  where at{"", 0};
};

// Two accesses of a block that nothing orders.
struct thread_conflict {
  struct side {
    int thread = 0;
    int count = 1;
    bool writes = false;
    const char* call = nullptr;
    where at{"", 0};
  };
  int block = 0;  // by its number in the schedule
  int in_warps_of = 1;
  side first;
  side second;
  std::uint32_t interval = 0;  // barriers of the block before them
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
};

class thread_accesses {
 public:
  // Of lines that begin `begin + 64 * number`.
  thread_accesses(const line* lines, std::uintptr_t begin, int threads);

  // Enters an access; what it met, if nothing orders the two.
  std::optional<thread_conflict> enter(const line& l, const thread_access& a);
  // A barrier of the block: what was before is ordered before what comes.
  void barrier();
  // How many there have been.
  std::uint32_t interval() const { return interval_; }
  // A barrier of `count` threads from number `first` on.
  void barrier_of(int first, int count);

  // A thread releases, by this word, what it has done; another one acquires it. A word by which no thread of the block
  // has released may have come from another block: then it acquires what all threads had released.
  void release(int thread, const void* word);
  void acquire(int thread, const void* word);

  // Bytes that several threads have written the same to.
  std::uint64_t written_alike() const { return written_alike_; }

 private:
  using clocks = std::vector<std::uint32_t>;  // by thread; empty: all are 0
  struct entry {
    thread_access who;
    std::uint32_t clock;
    std::array<std::byte, 64> held;  // what the line held when the thread had written
  };
  // What has touched a line since the barrier that this number counts; of one before it, nothing.
  struct touches {
    std::uint32_t interval = 0;
    std::vector<entry> all;
  };
  const std::byte* memory_of(const line& l) const;
  bool ordered(const entry& e, const thread_access& a) const;
  std::uint32_t clock_of(const thread_access& a);
  bool same_value(const line& l, const entry& other, std::uint64_t mask) const;
  std::uint64_t met_by(const line& l, const entry& e, const thread_access& a);
  void add(const line& l, std::vector<entry>& all, const thread_access& a);
  static void join(clocks& to, const clocks& from);

  const line* lines_;
  std::uintptr_t begin_;
  std::unordered_map<const line*, touches> touched_;  // kept over barriers, so that none takes memory anew
  // Since the last barrier, by thread: of its own accesses, and what it has acquired of others', which few do.
  std::vector<std::uint32_t> own_;
  std::vector<clocks> acquired_;
  std::unordered_map<const void*, clocks> released_;
  clocks released_by_any_;
  bool ordered_some_ = false;
  std::uint32_t interval_ = 0;
  std::uint64_t written_alike_ = 0;
};

}  // namespace starling::check
