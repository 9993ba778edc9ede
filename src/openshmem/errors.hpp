// How errors leave the C interface: as a status, a null pointer, or by the handler of shmemx.h.
#pragma once

#include <type_traits>

#include "shmemx.h"
#include "starling/base/error.hpp"

namespace starling::openshmem {

// Another PE did not come, or what a PE waits for has not happened within the deadline.
class late_error : public process_error {
 public:
  using process_error::process_error;
};

// The function of the C interface that this thread is in; for messages.
const char* call();
void enter(const char* name);

// Within a catch clause: keeps the error for shmemx_last_error and writes it to stderr, or gives it to the handler.
void tell();
void hand_over();

// Runs what a function does. Where it fails, the handler is called, and the function gives 0.
template <class F>
auto guarded(const char* name, const F& f) -> decltype(f()) {
  enter(name);
  try {
    return f();
  } catch (...) {
    hand_over();
  }
  if constexpr (!std::is_void_v<decltype(f())>) return {};
}

// The same for functions that can say that they have failed.
template <class F>
int guarded_status(const char* name, const F& f) {
  enter(name);
  try {
    return f();
  } catch (...) {
    tell();
  }
  return -1;
}

// Of shmem_finalize: once too often is told, and does no harm.
template <class F>
void guarded_finalize(const char* name, const F& f) {
  enter(name);
  try {
    f();
  } catch (const argument_error&) {
    tell();
  } catch (...) {
    hand_over();
  }
}

template <class F>
void* guarded_null(const char* name, const F& f) {
  enter(name);
  try {
    return f();
  } catch (...) {
    tell();
  }
  return nullptr;
}

}  // namespace starling::openshmem
