#include "fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

#include <cstdint>
#include <cstring>

#include "starling/base/error.hpp"

namespace starling::check {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t stack_bytes = std::size_t{256} << 10;

}  // namespace

fiber::fiber(void (*entry)(void*), void* argument) : entry_(entry), argument_(argument), started_(false) {
  void* memory =
      mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  expect<memory_error>(memory != MAP_FAILED,
                       "virtual device: no memory for the stack of a block or thread; use fewer of them");
  stack_ = static_cast<std::byte*>(memory);
  (void)mprotect(stack_, page, PROT_NONE);
  stack_start_ = stack_ + page;
  stack_size_ = stack_bytes;
#if defined(__SANITIZE_THREAD__)
  made_for_ = sanitizer_state_ = __tsan_create_fiber(0);
#endif
}

fiber::~fiber() {
  if (stack_ == nullptr) return;
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(made_for_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  // Other memory may come to lie here.
  __asan_unpoison_memory_region(stack_start_, stack_size_);
#endif
  munmap(stack_, page + stack_bytes);
}

// Before a switch.
void fiber::announce([[maybe_unused]] fiber& from, [[maybe_unused]] fiber& to) {
  to.came_from_ = &from;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.sanitizer_state_, to.stack_start_, to.stack_size_);
#endif
#if defined(__SANITIZE_THREAD__)
  from.sanitizer_state_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.sanitizer_state_, 0);
#endif
}

// After a switch, on the stack switched to.
void fiber::arrived() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(sanitizer_state_, &came_from_->stack_start_, &came_from_->stack_size_);
#endif
}

// makecontext passes integers, so the address comes in halves.
void fiber::begin(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<fiber*>((static_cast<std::uintptr_t>(high) << 32) | low);
  self->arrived();
  self->entry_(self->argument_);
}

// Its frame is left without a return, so nothing around its variables may stay marked in the stack that it leaves.
__attribute__((noinline, no_sanitize("address"))) void fiber::enter() {
  started_ = true;
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stack_ + page;
  context.uc_stack.ss_size = stack_bytes;
  context.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(&fiber::begin), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self));
  setcontext(&context);
}

__attribute__((noinline)) void fiber::switch_to(fiber& from, fiber& to) {
  static_assert(sizeof(exceptions) == 16, "the C++ ABI's __cxa_eh_globals");
  auto* globals = reinterpret_cast<void*>(abi::__cxa_get_globals());
  std::memcpy(&from.exceptions_, globals, sizeof(exceptions));
  std::memcpy(globals, &to.exceptions_, sizeof(exceptions));
  if (_setjmp(from.context_) != 0) {
    from.arrived();
    return;
  }
  announce(from, to);
  if (to.started_) _longjmp(to.context_, 1);
  to.enter();
}

}  // namespace starling::check
