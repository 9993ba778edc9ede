// fiber_group: threads of a block on a virtual device, which wait for each other without leaving the block's own
// thread. Each member has a stack; a member runs until it synchronises or ends. The first exception ends them all. For
// blocks that are one thread, as in runs: in check mode the block itself has as many threads.
#pragma once

#include <memory>

#include "starling/device/report.hpp"

namespace starling::stf {

class fiber_group {
 public:
  // Throws memory_error when there is no memory for so many stacks.
  explicit fiber_group(index_t members);
  ~fiber_group();
  fiber_group(const fiber_group&) = delete;
  fiber_group& operator=(const fiber_group&) = delete;

  // f(0), f(1) ... f(members - 1), all at the same time; starts them in this order. Returns when all have ended. Throws
  // what the first of them threw; argument_error when some wait for others that have ended.
  template <class F>
  void run(const F& f) {
    run([](const void* context, index_t member) { (*static_cast<const F*>(context))(member); }, &f);
  }

  // Called by a member: returns when members first to first + count - 1 have called it.
  void sync(index_t first, index_t count, where at);

 private:
  void run(void (*call)(const void*, index_t), const void* context);

  class state;
  std::unique_ptr<state> state_;
};

}  // namespace starling::stf
