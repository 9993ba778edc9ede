// What carries messages between processes that share no memory. The library knows this interface alone; what is behind
// it is loaded at run time (engine_library.hpp), so that programs start without it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace starling {

using message_bytes = std::vector<std::byte>;

// Data that goes without a copy from where it is to where it belongs. `memory` keeps the bytes where they are for as
// long as the engine may touch them; null: they are there until the process ends.
struct data_range {
  std::byte* start = nullptr;
  std::size_t bytes = 0;
  std::shared_ptr<const void> memory = nullptr;
};

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
  // Whether all that was sent has left this process, data too.
  virtual bool sent() = 0;

  // Data goes beside the messages and is not ordered with them: what a process is sent first comes to where it is first
  // wanted from there, of as many bytes. It stays as it is until it has left. One at a time is wanted from a process,
  // and asked for until it has come.
  virtual void send_data(int to, const data_range& data) = 0;
  virtual void receive_data(int from, const data_range& place) = 0;
  virtual bool data_received(int from) = 0;

  // The process is about to end, and says so to whoever has started it; may wait for the others to do so too. Nothing
  // is called any more.
  virtual void end_process() {}
};

}  // namespace starling
