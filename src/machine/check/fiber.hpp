// Fibers: stacks that one thread switches between, so that a schedule decides who runs. A switch costs no system call.
// Sanitizers are told of every switch, where they are compiled in.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>

namespace starling::check {

struct byte_range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;

  bool holds(std::uintptr_t address, std::size_t n) const {
    return address - begin < bytes && n <= bytes - (address - begin);
  }
};

class fiber {
 public:
  // The thread that calls it, as a fiber to come back to.
  fiber() = default;
  // Calls entry(argument) when it is first switched to; entry must never return. Throws memory_error without memory.
  fiber(void (*entry)(void*), void* argument);
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  byte_range stack() const { return {reinterpret_cast<std::uintptr_t>(stack_start_), stack_size_}; }

  // Leaves `from`, which is running, for `to`; returns when something switches to `from`.
  static void switch_to(fiber& from, fiber& to);

 private:
  static void begin(unsigned high, unsigned low);
  void enter();
  static void announce(fiber& from, fiber& to);
  void arrived();

  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  std::byte* stack_ = nullptr;  // with a guard page below
  bool started_ = true;
  std::jmp_buf context_;
  // What the C++ runtime keeps per thread while exceptions are handled, and each fiber has for itself.
  struct exceptions {
    void* caught = nullptr;
    unsigned int uncaught = 0;
  } exceptions_;
  // For sanitizers.
  fiber* came_from_ = nullptr;
  void* made_for_ = nullptr;         // what ThreadSanitizer knows this stack by
  void* sanitizer_state_ = nullptr;  // of the stack that it was left on, which may be one of fibers inside
  const void* stack_start_ = nullptr;
  std::size_t stack_size_ = 0;
};

}  // namespace starling::check
