// What each kind of device implements behind machine, stream, event and graph. Private to src/machine.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "local_heap.hpp"
#include "recorder.hpp"
#include "starling/machine/access_scope.hpp"
#include "starling/machine/machine.hpp"
#include "symmetric_heap.hpp"

namespace starling {

class event_backend {
 public:
  virtual ~event_backend() = default;
  virtual bool done() const = 0;
  virtual void synchronize() const = 0;
  // Seconds on a clock that events of one machine share closely enough to subtract.
  virtual double seconds_since(const event_backend& earlier) const = 0;
  virtual void record_in(void* native_stream);
  virtual void hold(void* native_stream) const;
};

class stream_backend {
 public:
  virtual ~stream_backend() = default;
  virtual int pe() const = 0;
  virtual void launch(int blocks, const kernel& k, const launch_options& options) = 0;
  // Of launches that set off copies.
  virtual void launch_with(int blocks, const kernel& k, const launch_options& options,
                           const std::shared_ptr<const launch_copies>& copies) = 0;
  virtual void copy_rows(void* dest, std::size_t dest_pitch, const void* source, std::size_t source_pitch,
                         std::size_t row_bytes, std::size_t rows) = 0;
  virtual void fill(void* dest, unsigned char byte, std::size_t bytes) = 0;
  virtual void record(event_backend& e) = 0;
  virtual void wait(const event_backend& e) = 0;
  virtual void call(std::function<void()> f) = 0;
  virtual void synchronize() = 0;
  virtual bool keep_with_recording(std::shared_ptr<void> what) = 0;
  // See scoped_stream; check mode alone wants to know.
  virtual void begin_scope(std::shared_ptr<const access_scope>) {}
  virtual void end_scope(const access_scope*) noexcept {}
  virtual void* native() const { return nullptr; }
};

class graph_backend {
 public:
  virtual ~graph_backend() = default;
  virtual void launch(stream_backend& s) = 0;
  virtual std::size_t operations() const = 0;
  // Null: it cannot. Of a loop there is none.
  virtual std::shared_ptr<graph_backend> loop(const loop_condition&) const { return nullptr; }
};

// A recording under way; abandoned when it dies.
class recording_backend {
 public:
  virtual ~recording_backend() = default;
  // Each ends it; see recording.
  virtual std::shared_ptr<graph_backend> finish() = 0;
  virtual bool finish_into(std::shared_ptr<graph_backend>& g) = 0;
};

class backend {
 public:
  virtual ~backend() = default;

  virtual machine_kind kind() const = 0;
  virtual const std::vector<device_info>& devices() const = 0;
  virtual peer_link link(int from_pe, int to_pe) const = 0;
  // See machine::transport, machine::sent_bytes and machine::traffic.
  virtual std::string transport() const { return "direct"; }
  virtual int host_of(int) const { return 0; }
  virtual std::vector<std::uint64_t> sent_bytes() const { return {}; }
  virtual std::vector<pair_traffic> traffic() const { return {}; }
  // What else machine::choice() should tell; empty: nothing.
  virtual std::string remark() const { return {}; }
  virtual symmetric_heap& heap() = 0;
  // Symmetric memory for the user: the offset of `bytes` fresh bytes on every PE.
  virtual std::size_t allocate(std::size_t bytes) { return heap().allocate(bytes); }
  virtual void free(std::size_t offset) noexcept { heap().free(offset); }
  virtual memory_info memory() { return heap().info(); }

  // Of a machine of several processes; see machine.hpp.
  virtual int processes() const { return 1; }
  virtual int process() const { return 0; }
  virtual index_range local_pes() const { return {0, static_cast<index_t>(devices().size())}; }
  // The same in all of them, and of no other machine; empty: there is one.
  virtual std::string job() const { return {}; }
  virtual void meet(const char*) {}
  virtual double agree(double mine) { return mine; }

  // Where local memory lies. GPUs have that of host_place and managed_place elsewhere, virtual devices have it in one.
  virtual const local_heap& local() const = 0;
  // Fresh memory for the user: the start of these pieces, one behind the other. One piece alone may be on
  // host_place or managed_place.
  virtual std::byte* allocate_local(const std::vector<placed_bytes>& pieces) = 0;
  virtual void free_local(std::byte* start) noexcept = 0;
  virtual std::size_t page_bytes() const = 0;
  virtual std::size_t free_bytes(int place) const = 0;

  // Pins a user's memory of the host; see pinned_memory. `needless`: streams have it in order as it is.
  enum class pinning { done, needless, refused };
  virtual pinning pin(void*, std::size_t) { return pinning::needless; }
  virtual void unpin(void*) noexcept {}

  virtual double default_deadline() const = 0;

  // How many blocks of this kernel one PE holds, with nothing else running.
  virtual int blocks_that_fit(const kernel& k, const launch_options& options) const = 0;
  // Arguments are checked, and every program's blocks are known to fit next to the others'.
  virtual void run(const std::vector<program>& programs) = 0;
  // Throws launch_error unless all programs' blocks are resident together.
  virtual void check_residency(const std::vector<program>& programs) const = 0;

  // Turns check mode on, and says what it has explored; virtual devices alone have it.
  virtual void enter_check_mode(const check_options& options);
  virtual check_summary checked() const;
  virtual bool checking() const { return false; }
  // See access_scope.hpp. The number of a name, by which it is forgotten; 0: it is not kept.
  virtual std::uint64_t name_memory(const std::byte*, std::size_t, std::string) { return 0; }
  virtual void forget_name(std::uint64_t) noexcept {}
  virtual std::shared_ptr<const access_scope> declare_accesses(std::string, where, std::vector<declared_range>) {
    return nullptr;
  }
  // Replaces the faults that are injected. GPUs have none.
  virtual void inject(const fault_plan& plan);
  virtual std::vector<fired_fault> faults_fired() const { return {}; }

  virtual void copy(void* dest, const void* source, std::size_t bytes, where at) = 0;
  virtual void fill(void* dest, unsigned char byte, std::size_t bytes) = 0;

  virtual std::shared_ptr<stream_backend> new_stream(int pe, int priority) = 0;
  virtual std::shared_ptr<event_backend> new_event(int pe, event_use use) = 0;
  virtual std::unique_ptr<recording_backend> start_recording(stream_backend& origin) = 0;

  // Where everything is recorded; null: nowhere.
  std::shared_ptr<recorder> trace() const {
    if (!traced_.load(std::memory_order_relaxed)) return nullptr;
    const std::lock_guard lock(trace_mutex_);
    return trace_;
  }
  void set_trace(std::shared_ptr<recorder> r) {
    const std::lock_guard lock(trace_mutex_);
    trace_ = std::move(r);
    traced_.store(trace_ != nullptr, std::memory_order_relaxed);
  }
  // Streams are numbered from 1, for the trace.
  std::uint32_t new_stream_number() { return streams_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // Whether an address lies where the machine's allocations do.
  bool owns(const void* address) { return local().in_range(address) || heap().in_range(address); }
  // The PE whose symmetric or local memory holds this address; -1: none.
  int home_of_address(const void* address) {
    if (local().in_range(address)) return std::max(local().home(address), host_place);
    if (!heap().in_range(address)) return -1;
    const symmetric_heap::layout& where = heap().where();
    return static_cast<int>((static_cast<const std::byte*>(address) - where.start) / where.stride);
  }

 private:
  std::atomic<std::uint32_t> streams_{0};
  std::atomic<bool> traced_{false};  // so that a machine without a trace takes no lock
  mutable std::mutex trace_mutex_;
  std::shared_ptr<recorder> trace_;
};

// The back ends. cuda_absent.cpp stands in for src/machine/cuda in builds without CUDA.
std::shared_ptr<backend> make_host_backend(int devices, const host_options& options);
std::shared_ptr<backend> make_distributed_backend(const distributed_options& options);
// The same of virtual devices, as this process of a job.
std::shared_ptr<backend> make_distributed_backend(const distributed_options& options,
                                                  const struct process_place& place);
std::shared_ptr<backend> make_cuda_backend(const std::vector<int>& ids, const cuda_options& options);
// Of GPUs: those of this process by PE, as many in each of the processes. `by_messages`: the same processes where they
// are of several hosts, else null.
std::shared_ptr<backend> make_distributed_cuda_backend(const std::vector<int>& placement,
                                                       std::unique_ptr<class process_group> processes,
                                                       class engine_group* by_messages);
machine::cuda_status probe_cuda_backend();

}  // namespace starling
