#include "host_call.hpp"

#include "starling/base/error.hpp"

namespace starling::host {
namespace {

// A call of the machine in the function has no other way to know.
constinit thread_local bool in_call = false;

}  // namespace

void run_host_call(const std::function<void()>& f) {
  struct marked {
    marked() { in_call = true; }
    ~marked() { in_call = false; }
  } here;
  f();
}

void expect_outside_of_host_call(const char* call) {
  expect<argument_error>(!in_call, call,
                         " in a function that a stream runs (stream::call): it would wait for itself; call it after "
                         "the stream was synchronized");
}

}  // namespace starling::host
