// Streams, events and graphs: work that the host puts in order on one device. One meaning on both kinds of device: a
// stream runs its operations one after the other, streams are independent unless events order them.
#pragma once

#include <functional>
#include <memory>

#include "starling/machine/kernel.hpp"

namespace starling {

class event_backend;
class stream_backend;
class graph_backend;

// A point in a stream's work.
class event {
 public:
  explicit event(std::shared_ptr<event_backend> impl) : impl_(std::move(impl)) {}

  // Whether the point has been reached; true before the first record.
  bool done() const;
  // Blocks the calling host thread until it has.
  void synchronize() const;
  // From `earlier` to `later`, both reached.
  static double seconds_between(const event& earlier, const event& later);

  event_backend& impl() const { return *impl_; }

 private:
  std::shared_ptr<event_backend> impl_;
};

class stream {
 public:
  explicit stream(std::shared_ptr<stream_backend> impl) : impl_(std::move(impl)) {}

  int pe() const;

  // Runs `blocks` blocks of a kernel. They need not be resident together: no sync_pe, sync_all or all_reduce (these end
  // the launch with argument_error), and a wait only for what work that is already running will signal.
  template <kernel_function F>
  void launch(int blocks, const F& f, const launch_options& options = {}) {
    launch_kernel(blocks, make_kernel(f), options);
  }
  void launch_kernel(int blocks, const kernel& k, const launch_options& options = {});

  // Copies between any two places: symmetric memory of any PE and memory of the host. Host memory that is not pinned
  // may make the call wait.
  void copy(void* dest, const void* source, std::size_t bytes);
  // `rows` rows of `row_bytes`, whose starts are the given pitches apart.
  void copy_rows(void* dest, std::size_t dest_pitch, const void* source, std::size_t source_pitch,
                 std::size_t row_bytes, std::size_t rows);
  void fill(void* dest, unsigned char byte, std::size_t bytes);

  void record(event& e);
  // Later work of this stream starts after `e` has been reached, as recorded by now.
  void wait(const event& e);

  // Returns when all work so far is done. Throws what went wrong in it.
  void synchronize();

  stream_backend& impl() const { return *impl_; }

 private:
  std::shared_ptr<stream_backend> impl_;
};

// A recorded piece of work, for many launches.
class graph {
 public:
  explicit graph(std::shared_ptr<graph_backend> impl) : impl_(std::move(impl)) {}

  // All of it, as one operation of `s`.
  void launch(stream& s) const;

 private:
  std::shared_ptr<graph_backend> impl_;
};

}  // namespace starling
