// Functions that take turns on one thread: each has a stack of its own, and goes on until it passes its turn on.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace starling::python {

class fibers {
 public:
  // Runs all of them until all have returned. They must not throw.
  void run(const std::vector<std::function<void()>>& functions);

  // Of a function that runs: the next one goes on, and this one when its turn comes again. Not within a catch.
  void pass();

 private:
  struct fiber {
    ucontext_t at{};
    std::unique_ptr<std::byte[]> stack;
    const std::function<void()>* function = nullptr;
    bool ended = false;
  };

  static void start(unsigned high, unsigned low);

  ucontext_t caller_{};
  std::vector<fiber> all_;
  std::size_t now_ = 0;
};

}  // namespace starling::python
