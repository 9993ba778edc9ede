#include "starling/stf/detail/host_body.hpp"

#include "starling/base/error.hpp"

namespace starling::stf {
namespace {

// A call of a context in the body has no other way to know.
constinit thread_local bool running = false;

}  // namespace

host_body::host_body() : outer_(running) { running = true; }
host_body::~host_body() { running = outer_; }

void host_body::expect_none(const char* call) {
  expect<argument_error>(!running, "stf: ", call,
                         " within a body that runs on the host (host_launch, or a loop on exec_place::host()) or in an "
                         "allocator of the user: it would wait for itself; call it from the thread that submits");
}

}  // namespace starling::stf
