#include "thread_accesses.hpp"

#include <bit>
#include <cstring>

namespace starling::check {

const std::byte* thread_accesses::memory_of(const line& l) const {
  return reinterpret_cast<const std::byte*>(begin_ + static_cast<std::uintptr_t>(&l - lines_) * 64);
}

bool thread_accesses::same_value(const line& l, const entry& other, std::uint64_t mask) const {
  const std::byte* now = memory_of(l);
  for (std::uint64_t left = mask; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (now[i] != other.held[i]) return false;
  }
  return true;
}

std::optional<thread_conflict> thread_accesses::enter(const line& l, int thread, std::uint64_t read,
                                                      std::uint64_t written) {
  std::vector<entry>& all = touched_[&l];
  entry* own = nullptr;
  for (entry& e : all) {
    if (e.thread == thread && thread != all_threads) {
      own = &e;
      continue;
    }
    const std::uint64_t both_write = written & e.written;
    std::uint64_t met = (written & e.read) | (read & e.written) | both_write;
    if (met == both_write && met != 0 && thread != all_threads && e.thread != all_threads &&
        same_value(l, e, both_write)) {
      written_alike_ += static_cast<std::uint64_t>(std::popcount(both_write));
      met = 0;
    }
    if (met == 0) continue;
    const int first = std::countr_zero(met);
    const std::uint64_t one = std::uint64_t{1} << first;
    thread_conflict c;
    c.first = e.thread;
    c.second = thread;
    c.first_writes = (e.written & one) != 0;
    c.second_writes = (written & one) != 0;
    c.interval = interval_;
    c.address = reinterpret_cast<std::uintptr_t>(memory_of(l)) + static_cast<std::uintptr_t>(first);
    c.bytes = static_cast<std::size_t>(std::countr_one(met >> first));
    return c;
  }
  if (own == nullptr) {
    all.push_back({thread, 0, 0, {}});
    own = &all.back();
  }
  own->read |= read;
  own->written |= written;
  if (written != 0) std::memcpy(own->held.data(), memory_of(l), own->held.size());
  return std::nullopt;
}

void thread_accesses::barrier() {
  touched_.clear();
  ++interval_;
}

}  // namespace starling::check
