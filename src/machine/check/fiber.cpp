#include "fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

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
  expect<memory_error>(memory != MAP_FAILED, "check mode: no memory for the stack of a block; use fewer blocks");
  stack_ = static_cast<std::byte*>(memory);
  (void)mprotect(stack_, page, PROT_NONE);
}

fiber::~fiber() {
  if (stack_ != nullptr) munmap(stack_, page + stack_bytes);
}

// makecontext passes integers, so the address comes in halves.
void fiber::begin(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<fiber*>((static_cast<std::uintptr_t>(high) << 32) | low);
  self->entry_(self->argument_);
}

void fiber::enter() {
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
  if (_setjmp(from.context_) != 0) return;
  if (to.started_) _longjmp(to.context_, 1);
  to.enter();
}

}  // namespace starling::check
