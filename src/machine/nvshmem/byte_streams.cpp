#include "byte_streams.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace starling::nvshmem {
namespace {

constexpr std::size_t all_rings_bytes = std::size_t{16} << 20;  // that a process reads, and as much that it writes
constexpr std::size_t most_bytes = std::size_t{2} << 20;        // of one

std::size_t ring_bytes_for(int processes) {
  return std::min(most_bytes, std::bit_floor(all_rings_bytes / static_cast<std::size_t>(processes)));
}

// f(place in the ring, bytes) for each part of what begins at `from` that does not go over the ring's end.
template <class F>
void for_each_part(std::size_t ring, std::uint64_t from, std::size_t bytes, const F& f) {
  while (bytes > 0) {
    const std::size_t at = from % ring;
    const std::size_t n = std::min(bytes, ring - at);
    f(at, n);
    from += n;
    bytes -= n;
  }
}

}  // namespace

std::size_t byte_streams::bytes_for(int processes) {
  return 2 * static_cast<std::size_t>(processes) * (sizeof(counts) + ring_bytes_for(processes));
}

byte_streams::byte_streams(const host_library& by, const gpu_context& gpu, std::byte* memory, int rank, int processes)
    : by_(by),
      gpu_(gpu),
      memory_(memory),
      rank_(rank),
      processes_(processes),
      ring_bytes_(ring_bytes_for(processes)),
      places_(static_cast<std::size_t>(processes)) {
  std::memset(memory, 0, bytes_for(processes));
}

byte_streams::counts* byte_streams::words(int process, bool in) const {
  return reinterpret_cast<counts*>(memory_) + (in ? 0 : processes_) + process;
}

std::byte* byte_streams::ring(int process, bool in) const {
  const auto before = static_cast<std::size_t>((in ? 0 : processes_) + process);
  return memory_ + 2 * static_cast<std::size_t>(processes_) * sizeof(counts) + before * ring_bytes_;
}

void byte_streams::put_word(int to, std::atomic<std::uint64_t> counts::* which, std::uint64_t value) {
  auto& source = words(to, false)->*which;
  source.store(value, std::memory_order_relaxed);
  gpu_.make_current();
  by_.putmem(&(words(rank_, true)->*which), &source, sizeof value, to);
}

std::size_t byte_streams::write(int to, const std::byte* data, std::size_t bytes) {
  place& p = places_[static_cast<std::size_t>(to)];
  const std::uint64_t read = words(to, true)->read.load(std::memory_order_acquire);
  const std::size_t all = std::min<std::size_t>(bytes, ring_bytes_ - (p.written - read));
  for_each_part(ring_bytes_, p.written, all, [&](std::size_t at, std::size_t n) {
    std::memcpy(ring(to, false) + at, data, n);
    data += n;
  });
  p.written += all;
  return all;
}

void byte_streams::send(int to) {
  place& p = places_[static_cast<std::size_t>(to)];
  if (p.sent == p.written) return;
  gpu_.make_current();
  for_each_part(ring_bytes_, p.sent, p.written - p.sent, [&](std::size_t at, std::size_t n) {
    by_.putmem(ring(rank_, true) + at, ring(to, false) + at, n, to);
  });
  by_.quiet();
  p.sent = p.written;
  put_word(to, &counts::written, p.sent);
}

std::size_t byte_streams::read(int from, std::byte* data, std::size_t bytes) {
  place& p = places_[static_cast<std::size_t>(from)];
  const std::uint64_t written = words(from, true)->written.load(std::memory_order_acquire);
  const std::size_t all = std::min<std::size_t>(bytes, written - p.read);
  for_each_part(ring_bytes_, p.read, all, [&](std::size_t at, std::size_t n) {
    std::memcpy(data, ring(from, true) + at, n);
    data += n;
  });
  p.read += all;
  // Before the writer, which may have filled the ring, has to wait for it.
  if (p.read - p.told >= ring_bytes_ / 4) {
    p.told = p.read;
    put_word(from, &counts::read, p.told);
  }
  return all;
}

}  // namespace starling::nvshmem
