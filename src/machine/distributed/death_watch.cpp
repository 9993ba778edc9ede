#include "death_watch.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace starling {

death_watch::death_watch(std::vector<file> lines, std::function<void(int)> ended)
    : lines_(std::move(lines)),
      ended_(std::move(ended)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      thread_([this] { watch(); }) {}

death_watch::~death_watch() { pause(); }

void death_watch::pause() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.number(), &one, sizeof one);
  thread_.join();
}

void death_watch::resume() {
  std::uint64_t read = 0;
  (void)!::read(stop_.number(), &read, sizeof read);
  thread_ = std::thread([this] { watch(); });
}

void death_watch::watch() {
  for (;;) {
    std::vector<int> numbers = {stop_.number()};
    std::vector<std::size_t> whose = {0};
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (lines_[i].is_open()) {
        numbers.push_back(lines_[i].number());
        whose.push_back(i);
      }
    const std::vector<bool> ready =
        local_socket::wait(numbers, std::chrono::steady_clock::now() + std::chrono::minutes(1));
    if (ready[0]) return;
    for (std::size_t i = 1; i < ready.size(); ++i) {
      if (!ready[i]) continue;
      lines_[whose[i]] = file();
      ended_(static_cast<int>(whose[i]));
    }
  }
}

}  // namespace starling
