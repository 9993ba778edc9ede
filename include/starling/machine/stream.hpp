// Streams, events and graphs: work that the host puts in order on one device. One meaning on both kinds of device: a
// stream runs its operations one after the other, streams are independent unless events order them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "starling/machine/kernel.hpp"

namespace starling {

struct launch_copies;
class event_backend;
class stream_backend;
class graph_backend;
class recording_backend;

// What an event is for: one that only orders work costs a GPU's host a fraction of one that also takes the time.
enum class event_use { timing, ordering };

// A point in a stream's work.
class event {
 public:
  event(std::shared_ptr<event_backend> impl, event_use use) : impl_(std::move(impl)), use_(use) {}

  // Whether the point has been reached; true before the first record.
  bool done() const;
  // Blocks the calling host thread until it has.
  void synchronize() const;
  // As stream::record and stream::wait for a stream of another library on the event's GPU, a cudaStream_t: the event is
  // the point after what it has been given so far; what it is given later waits for the event. unsupported_error on
  // virtual devices, which have no such streams.
  void record_in(void* native_stream);
  void hold(void* native_stream) const;
  // From `earlier` to `later`, both made for timing and reached.
  static double seconds_between(const event& earlier, const event& later);

  event_backend& impl() const { return *impl_; }

 private:
  std::shared_ptr<event_backend> impl_;
  event_use use_;
};

class stream {
 public:
  explicit stream(std::shared_ptr<stream_backend> impl) : impl_(std::move(impl)) {}

  int pe() const;

  // Runs `blocks` blocks of a kernel. They need not be resident together: no sync_pe, sync_all or all_reduce (these end
  // the launch with argument_error), and a wait only for what work that is already running will signal. With
  // launch_options::resident all of them run at once, launch_error with the numbers if they do not fit, and may
  // sync_pe.
  template <kernel_function F>
  void launch(int blocks, const F& f, const launch_options& options = {}) {
    launch_kernel(blocks, make_stream_kernel(f), options);
  }
  void launch_kernel(int blocks, const kernel& k, const launch_options& options = {});
  // The same, and copies that it sets off while it runs (triggered_copies.hpp), with whose end later work of this
  // stream starts. Copies of a kernel that failed are made of what is there, or left out. Throws unsupported_error
  // where the device cannot wait for words, launch_error where too many of its hardware queues would.
  void launch_kernel(int blocks, const kernel& k, const launch_options& options,
                     const std::shared_ptr<const launch_copies>& copies);

  // Copies between any two places: symmetric memory of any PE and memory of the host. Host memory that is not pinned
  // may make the call wait, and GPUs may read it before what comes earlier in the stream has written it: see
  // machine::pin.
  void copy(void* dest, const void* source, std::size_t bytes);
  // `rows` rows of `row_bytes`, whose starts are the given pitches apart.
  void copy_rows(void* dest, std::size_t dest_pitch, const void* source, std::size_t source_pitch,
                 std::size_t row_bytes, std::size_t rows);
  void fill(void* dest, unsigned char byte, std::size_t bytes);

  // Runs f on a thread of the host, once, after earlier and before later work of this stream; recorded, once in each
  // launch of the graph. f must not call the machine, its streams, events or graphs. What f throws surfaces at the next
  // synchronize(); functions after it in the stream are skipped until then, on virtual devices all later work is.
  void call(std::function<void()> f);

  void record(event& e);
  // Later work of this stream starts after `e` has been reached, as recorded by now.
  void wait(const event& e);

  // Returns when all work so far is done. Throws what went wrong in it.
  void synchronize();

  // Whether the stream is being recorded; if so `what` lives as long as the graph that the recording makes, and its
  // launches. Otherwise it is not kept. Null asks only.
  bool keep_with_recording(std::shared_ptr<void> what);

  // The cudaStream_t; null on virtual devices.
  void* native() const;

  stream_backend& impl() const { return *impl_; }

 private:
  std::shared_ptr<stream_backend> impl_;
};

// How often a loop of recorded work does it: once in any case, and then again as long as all of this holds.
struct loop_condition {
  std::uint64_t most = 1;  // so many times at most, the first included; at least 1
  // 1, 2, 4 or 8 bytes in memory of the machine, of which one is not 0: looked at after each time. Null: not asked for.
  const void* flag = nullptr;
  std::size_t flag_bytes = 0;
};

// A recorded piece of work, for many launches. Copies are the same graph.
class graph {
 public:
  explicit graph(std::shared_ptr<graph_backend> impl) : impl_(std::move(impl)) {}

  // All of it, as one operation of `s`.
  void launch(stream& s) const;
  // How many there are in it: launches, copies, fills and calls, as the device counts them.
  std::size_t operations() const;

  // A graph that repeats this one's work as the condition says, without the host. It keeps nothing of this one. Nothing
  // where the devices cannot do so on their own: on GPUs, functions of the host, kernels of several GPUs, of launches
  // whose blocks meet or that set off copies, and drivers before CUDA 12.4; in check mode, which explores launches.
  // Throws argument_error for a condition that makes no sense.
  std::optional<graph> loop(const loop_condition& condition) const;

 private:
  friend class recording;
  std::shared_ptr<graph_backend> impl_;
};

// A recording under way, begun by machine::start_recording: what its origin is given, and streams that come to wait for
// events of it, is kept instead of run. Recordings of different streams may go on at the same time, in several threads.
// Abandoned when it dies: the streams are as before.
class recording {
 public:
  explicit recording(std::unique_ptr<recording_backend> impl);
  recording(recording&&) noexcept;
  recording& operator=(recording&&) noexcept;
  ~recording();

  // Ends it and makes the graph. Throws argument_error for a stream that joined and was not joined back to the origin;
  // the recording is over in every case.
  graph finish();
  // The same into a graph that is there, and its copies: launches so far are not touched, those from now on do the new
  // work. True when the new work has the shape of the old, which then costs little; false when the graph was made anew.
  // Unchanged when finishing fails.
  bool finish_into(graph& g);

 private:
  std::unique_ptr<recording_backend> take(const char* call);
  std::unique_ptr<recording_backend> impl_;
};

}  // namespace starling
