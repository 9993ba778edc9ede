#include "futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace starling::futex {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

long call(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* time) {
  return syscall(SYS_futex, &word, operation, value, time, nullptr, 0);
}

}  // namespace

void wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds at_most) {
  if (at_most.count() <= 0) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds.count());
  time.tv_nsec = static_cast<long>((at_most - seconds).count());
  (void)call(word, FUTEX_WAIT, seen, &time);
}

void wake_all(const std::atomic<std::uint32_t>& word) { (void)call(word, FUTEX_WAKE, INT_MAX, nullptr); }

}  // namespace starling::futex
