// What the threads of a block have touched since its last barrier: two of them at the same bytes, one writing, is a
// mistake that no other block is needed for. Threads that all write the same are only counted.
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

// Two accesses of a block that none of its barriers orders.
struct thread_conflict {
  int block = 0;  // by number of the actor
  int first = 0;  // threads
  int second = 0;
  bool first_writes = false;
  bool second_writes = false;
  std::uint32_t interval = 0;  // barriers of the block before them
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  const char* call = nullptr;  // of `second`, if that is all_threads
  where at{"", 0};
};

class thread_accesses {
 public:
  // Of lines that begin `begin + 64 * number`.
  thread_accesses(const line* lines, std::uintptr_t begin) : lines_(lines), begin_(begin) {}

  // A thread has read and written bytes of a line, and rests.
  std::optional<thread_conflict> enter(const line& l, int thread, std::uint64_t read, std::uint64_t written);
  // A barrier of the block: what was before is ordered before what comes.
  void barrier();
  // How many there have been.
  std::uint32_t interval() const { return interval_; }
  // Bytes that several threads have written the same to.
  std::uint64_t written_alike() const { return written_alike_; }

 private:
  struct entry {
    int thread;
    std::uint64_t read;
    std::uint64_t written;
    std::array<std::byte, 64> held;  // what the line held when the thread had written
  };
  const std::byte* memory_of(const line& l) const;
  bool same_value(const line& l, const entry& other, std::uint64_t mask) const;

  const line* lines_;
  std::uintptr_t begin_;
  std::unordered_map<const line*, std::vector<entry>> touched_;
  std::uint32_t interval_ = 0;
  std::uint64_t written_alike_ = 0;
};

}  // namespace starling::check
