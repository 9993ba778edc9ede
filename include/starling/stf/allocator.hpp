// allocator: memory of the user's own for what a context keeps at its places: instances of logical data, and temporary
// memory of tasks. Derive from it and name it in context_options.
//
//   class from_pool : public stf::allocator {
//     void* allocate(std::size_t bytes, const stf::data_place& where, stream& s) override { return pool.take(bytes); }
//     void deallocate(void* start, std::size_t bytes, const stf::data_place& where, stream& s) noexcept override {...}
//   };
//   context ctx(m, {.device_allocator = std::make_shared<from_pool>()});
//
// The context uses a piece again for other data; every piece comes back by the end of finalize, but for what recordings
// hold (with their last handle), and within a user's stream (with the last handle of the context, or with the graph
// that the stream is recorded for). Calls for one place come one at a time, those for different places, and of several
// contexts, may come from several threads at once. Calls of contexts in them are an argument_error.
#pragma once

#include <cstddef>

#include "starling/machine/stream.hpp"
#include "starling/stf/place.hpp"

namespace starling::stf {

class allocator {
 public:
  // What starts of pieces are multiples of.
  static constexpr std::size_t alignment = 256;

  virtual ~allocator() = default;

  // At least `bytes` at data_place::device(i), or at data_place::host() where kernels and copies of all devices reach
  // it. `s` is a stream of that device (of the host: of device 0) that tasks do not use: who uses the piece waits for
  // what this call has put into it. Null, or an exception: there is no more; the context makes room, and asks once more
  // or throws memory_error.
  virtual void* allocate(std::size_t bytes, const data_place& where, stream& s) = 0;
  // What allocate gave, with the same bytes. Nothing uses it any more.
  virtual void deallocate(void* start, std::size_t bytes, const data_place& where, stream& s) noexcept = 0;
};

}  // namespace starling::stf
