// What carries messages between processes that share no memory. The library knows this interface alone; what is behind
// it is loaded at run time (engine_library.hpp), so that programs start without it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace starling {

using message_bytes = std::vector<std::byte>;

class engine {
 public:
  virtual ~engine() = default;
  // As STARLING_TRANSPORT names it.
  virtual std::string name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Called by one thread at a time, and none waits. What one process sends to another comes there whole, and in the
  // order in which it was sent.
  virtual void send(int to, message_bytes message) = 0;
  // The next message that has come; false: there is none.
  virtual bool receive(int& from, message_bytes& message) = 0;
  // Whether all that was sent has left this process.
  virtual bool sent() = 0;
};

}  // namespace starling
