// The errors of Starling. Every one names the argument or resource, the value seen, what is allowed, and the next step.
// Nothing in Starling calls abort() or exit(): a failure on the host is one of these, a failure in a kernel ends the
// kernel and becomes one of these when the host looks.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace starling {

// Base of all errors that Starling throws.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An argument has a value that is not allowed (Python: ValueError).
class argument_error : public error {
 public:
  using error::error;
};

// An argument has the wrong type or element type (Python: TypeError).
class type_error : public error {
 public:
  using error::error;
};

// An index, a PE or an address is out of range (Python: IndexError).
class range_error : public error {
 public:
  using error::error;
};

// Memory of a device does not suffice (Python: MemoryError).
class memory_error : public error {
 public:
  using error::error;
};

// A persistent program has more blocks than the device holds at once (Python: ValueError).
class launch_error : public error {
 public:
  using error::error;
};

// The machine, the build or the driver lacks something that was asked for (Python: RuntimeError).
class unsupported_error : public error {
 public:
  using error::error;
};

// A device or its driver reported a failure (Python: RuntimeError).
class device_error : public error {
 public:
  using error::error;
};

// A kernel has used a region against its rules (Python: RuntimeError).
class region_error : public error {
 public:
  using error::error;
};

// A fault that was injected on purpose ended a block; see machine/faults.hpp (Python: RuntimeError).
class fault_error : public error {
 public:
  using error::error;
};

// Another process of a distributed machine has died, does not come, or has failed; see machine::distributed (Python:
// RuntimeError).
class process_error : public error {
 public:
  using error::error;
};

// Text from values: message("wanted ", 3, " PEs").
template <class... Parts>
[[nodiscard]] std::string message(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// Throws Error with the text made of `parts` unless `condition` holds.
template <class Error, class... Parts>
void expect(bool condition, const Parts&... parts) {
  if (!condition) throw Error(message(parts...));
}

}  // namespace starling
