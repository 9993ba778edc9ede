// What a virtual device does for one block: the host side of every communication call. Implemented in src/machine/host;
// kernels never see it. One port belongs to one block, so that a port may hold that block's undelivered puts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "starling/base/index.hpp"
#include "starling/device/report.hpp"

namespace starling {

// `count` elements of `element` bytes each; strides in elements. `remote` lies in the memory of PE `pe`.
struct transfer {
  void* dest = nullptr;
  const void* source = nullptr;
  index_t count = 0;
  std::size_t element = 1;
  index_t dest_stride = 1;
  index_t source_stride = 1;
  int pe = 0;
  bool blocking = true;  // false: the source (of a get: the destination) is not to be touched until quiet()
  where at{};
};

struct signal_update {
  signal* target = nullptr;  // the copy on PE `pe`
  signal_op op = signal_op::set;
  std::uint64_t value = 0;
  int pe = 0;
  where at{};
};

struct wait_request {
  const signal* local = nullptr;
  compare how = compare::ge;
  std::uint64_t wanted = 0;
  int from = any_pe;
  operation op = operation::wait;
  where at{};
};

class host_port {
 public:
  virtual ~host_port() = default;

  virtual void put(const transfer& t) = 0;
  virtual void put_signal(const transfer& t, const signal_update& s) = 0;
  virtual void get(const transfer& t) = 0;
  virtual void update(const signal_update& s) = 0;

  // When the deadline passes or the program is ended elsewhere, throws what unwinds the kernel.
  virtual void wait(const wait_request& w) = 0;
  virtual bool test(const wait_request& w) = 0;

  // Runs `apply(context)`, one atomic operation on `address` in the memory of PE `pe`, and wakes those who wait for it.
  virtual void atomic(void* address, int pe, where at, void (*apply)(void*), void* context) = 0;

  virtual void fence() = 0;
  virtual void quiet() = 0;

  // Ends the program because `pe` does not exist.
  [[noreturn]] virtual void refuse_pe(operation op, int pe, where at) = 0;
  // Ends a plain launch whose kernel called a barrier.
  [[noreturn]] virtual void refuse_barrier(operation op, where at) = 0;

  // Memory of the block, alive until the kernel returns. Throws range_error when the launch did not ask for as much.
  virtual std::byte* scratch(std::size_t bytes, where at) = 0;
  // Memory for the source of one put, reused by the next call.
  virtual std::byte* staging(std::size_t bytes) = 0;
};

}  // namespace starling
