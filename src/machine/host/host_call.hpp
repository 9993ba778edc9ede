// Functions that streams run on the host (stream::call): they must not wait for streams, which wait for them.
#pragma once

#include <functional>

namespace starling::host {

// Runs f, on this thread.
void run_host_call(const std::function<void()>& f);

// Throws argument_error, which names `call`, on a thread that is running such a function.
void expect_outside_of_host_call(const char* call);

}  // namespace starling::host
