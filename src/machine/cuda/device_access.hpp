// How a thread of the host reads and writes memory of GPUs while kernels run there: by a stream of its own and pinned
// memory in between, so that nothing waits for a kernel or depends on what else knows of GPUs.
//
// The stream does everything in the order of the calls. A word of 8 bytes is a write of the stream's own, which comes
// whole and after what is before it, so a kernel that has seen a signal sees its data; other data is copied, in any
// order of its bytes. Atomic operations are kernels of one thread, for which the residency of programs leaves room.
//
// By one thread at a time. What CUDA throws is kept, and nothing is done until that is forgotten.
#pragma once

#include <atomic>
#include <exception>

#include "../near_memory.hpp"
#include "driver.hpp"
#include "gpu.hpp"
#include "handles.hpp"

namespace starling::on_cuda {

class device_access final : public near_memory {
 public:
  // `on`: a PE of this process, whose stream does the work; it reaches the memory of others too.
  device_access(const driver_api& driver, const gpu& on);

  bool engine_reaches() const override { return false; }
  void store(void* to, const void* from, std::size_t bytes) override;
  void load(void* to, const void* from, std::size_t bytes) override;
  void written(void*, std::size_t) override {}
  std::uint64_t change(void* word, word_change what, std::size_t bytes, std::uint64_t operand,
                       std::uint64_t compare) override;
  void settle() override;
  void wake_all() override {}
  // Of any thread; then rethrow() throws what CUDA has thrown.
  bool failed() const override { return failed_.load(); }
  [[noreturn]] void rethrow() const { std::rethrow_exception(failure_); }
  // Tries again from now on. Nobody else calls it meanwhile.
  void forget_failure() {
    failed_ = false;
    failure_ = nullptr;
  }

 private:
  std::byte* room_for(std::size_t bytes);
  void await_stream();
  template <class F>
  void attempt(const F& f);

  const driver_api& driver_;
  const gpu& on_;
  unique_stream stream_;
  pinned_array<std::byte> bounce_;  // on the way between the stream and the thread
  std::size_t used_ = 0;            // of bounce_, since the stream was last awaited
  pinned_array<std::uint64_t> done_;
  pinned_array<std::uint64_t> answer_;
  std::uint64_t issued_ = 0;  // how often the stream was asked to say that it is so far
  bool behind_ = false;       // the stream has work that it has not said to have done
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};  // the failure is there
};

}  // namespace starling::on_cuda
