// operation_port: what a virtual device does for an operation of a persistent program. All as for the block that runs
// it, but for scratch memory: that of a block lasts until its kernel returns, that of an operation until the next
// operation.
#pragma once

#include "starling/base/error.hpp"
#include "starling/device/block.hpp"

namespace starling::stf {

class operation_port final : public host_port {
 public:
  operation_port(host_port& block, std::byte* scratch, std::size_t bytes)
      : block_(block), scratch_(scratch), bytes_(bytes) {
    set_thread(block.thread_of_block(), block.threads_of_block(), block.threads_of_warp());
  }

  void next_operation() { used_ = 0; }

  host_port& own() override { return block_.own(); }
  host_port& warp() override { return block_.warp(); }
  void sync(where at) override { block_.sync(at); }
  void sync_part(int first, int count, where at) override { block_.sync_part(first, count, at); }
  int votes(bool value, where at) override { return block_.votes(value, at); }
  const std::byte* gather(const void* value, std::size_t bytes, where at) override {
    return block_.gather(value, bytes, at);
  }

  void come_alike(const char* what, std::initializer_list<std::uint64_t> arguments, where at) override {
    block_.come_alike(what, arguments, at);
  }
  void begin_loop() override { block_.begin_loop(); }
  void next_element(std::span<const index_t> at) override { block_.next_element(at); }
  void end_loop() override { block_.end_loop(); }

  void put(const transfer& t) override { block_.put(t); }
  void put_signal(const transfer& t, const signal_update& s) override { block_.put_signal(t, s); }
  void get(const transfer& t) override { block_.get(t); }
  void update(const signal_update& s) override { block_.update(s); }
  bool wait(const wait_request& w) override { return block_.wait(w); }
  bool test(const wait_request& w) override { return block_.test(w); }
  void atomic(const atomic_call& c) override { block_.atomic(c); }
  bool launch(const kernel_launch& k) override { return block_.launch(k); }
  void collective(const collective_call& c) override { block_.collective(c); }
  lane_order lanes() override { return block_.lanes(); }
  void fence(int context) override { block_.fence(context); }
  void quiet(int context) override { block_.quiet(context); }
  int open_context() override { return block_.open_context(); }
  void close_context(int context) override { block_.close_context(context); }
  bool reach(int pe) override { return block_.reach(pe); }
  [[noreturn]] void refuse_pe(operation op, int pe, where at) override {
    block_.refuse_pe(op, pe, at);
    throw error("operation_port: the block went on");  // not every compiler knows that it does not
  }
  [[noreturn]] void refuse_address(const void* address, where at) override {
    block_.refuse_address(address, at);
    throw error("operation_port: the block went on");
  }
  [[noreturn]] void refuse_barrier(operation op, where at) override {
    block_.refuse_barrier(op, at);
    throw error("operation_port: the block went on");
  }
  std::byte* staging(std::size_t bytes) override { return block_.staging(bytes); }

  std::byte* scratch(std::size_t bytes, where at) override {
    const std::size_t taken = scratch_taken(bytes);
    // More than there is: the block's own port says so.
    if (taken > bytes_ - used_) return block_.scratch(bytes_ + bytes, at);
    std::byte* start = scratch_ + used_;
    used_ += taken;
    return start;
  }

 private:
  host_port& block_;
  std::byte* scratch_;
  std::size_t bytes_;
  std::size_t used_ = 0;
};

}  // namespace starling::stf
