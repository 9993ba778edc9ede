// Streams of bytes between every two processes: rings in NVSHMEM's heap, which their writers put into.
//
// The reader of a ring has it in its own memory, the writer a copy at the same place in its own, of which it puts what
// is new. Then, when that has come, it puts how much it has written in all; the reader puts how much it has read.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "gpu_context.hpp"
#include "host_library.hpp"

namespace starling::nvshmem {

class byte_streams {
 public:
  // What each process has for them: so much that large data seldom waits for room, and at most 32 MiB and some.
  static std::size_t bytes_for(int processes);

  // `memory`: at the same place of the heap in all processes, of bytes_for(processes), which the host can read and
  // write. Clears it; nobody may write before all have. Calls of NVSHMEM are made in the context `gpu`, by any thread.
  byte_streams(const host_library& by, const gpu_context& gpu, std::byte* memory, int rank, int processes);
  byte_streams(const byte_streams&) = delete;
  byte_streams& operator=(const byte_streams&) = delete;

  // Not yet sent; how many of the bytes there was room for.
  std::size_t write(int to, const std::byte* data, std::size_t bytes);
  // Sends what has been written.
  void send(int to);
  // How many bytes there were, and so many at most.
  std::size_t read(int from, std::byte* data, std::size_t bytes);

 private:
  // Of the ring from one process to another, and of the one back.
  struct alignas(64) counts {
    std::atomic<std::uint64_t> written;
    std::atomic<std::uint64_t> read;
  };
  struct place {
    std::uint64_t written = 0;
    std::uint64_t sent = 0;
    std::uint64_t read = 0;
    std::uint64_t told = 0;  // of what was read
  };
  // Parts of the memory: `in` is for others to put into, at the place of their rank, `out` is what is put.
  counts* words(int process, bool in) const;
  std::byte* ring(int process, bool in) const;
  void put_word(int to, std::atomic<std::uint64_t> counts::* which, std::uint64_t value);

  host_library by_;
  gpu_context gpu_;
  std::byte* memory_;
  int rank_;
  int processes_;
  std::size_t ring_bytes_;
  std::vector<place> places_;
};

}  // namespace starling::nvshmem
