#include "fibers.hpp"

#include <algorithm>
#include <cstdint>

#include "starling/base/error.hpp"

namespace starling::python {
namespace {

constexpr std::size_t stack_bytes = std::size_t{4} << 20;  // what drivers need; untouched pages cost nothing
constexpr int half = 32;                                   // makecontext passes ints

}  // namespace

void fibers::run(const std::vector<std::function<void()>>& functions) {
  all_ = std::vector<fiber>(functions.size());
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  for (std::size_t k = 0; k < functions.size(); ++k) {
    fiber& f = all_[k];
    f.function = &functions[k];
    f.stack = std::make_unique_for_overwrite<std::byte[]>(stack_bytes);
    expect<error>(getcontext(&f.at) == 0, "fibers: getcontext fails");
    f.at.uc_stack.ss_sp = f.stack.get();
    f.at.uc_stack.ss_size = stack_bytes;
    f.at.uc_link = &caller_;
    makecontext(&f.at, reinterpret_cast<void (*)()>(&fibers::start), 2, static_cast<unsigned>(self >> half),
                static_cast<unsigned>(self));
  }
  const auto running = [](const fiber& f) { return !f.ended; };
  while (std::any_of(all_.begin(), all_.end(), running))
    for (now_ = 0; now_ < all_.size(); ++now_)
      if (running(all_[now_])) swapcontext(&caller_, &all_[now_].at);
  all_.clear();
}

void fibers::pass() { swapcontext(&all_[now_].at, &caller_); }

void fibers::start(unsigned high, unsigned low) {
  fibers& self = *reinterpret_cast<fibers*>(std::uintptr_t{high} << half | low);
  fiber& own = self.all_[self.now_];
  (*own.function)();
  own.ended = true;
}

}  // namespace starling::python
