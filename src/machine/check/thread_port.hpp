// What one thread of a block calls in check mode. There are three for each: by one, calls of the block, in which its
// threads meet; by one, calls of its warp, in which those of the warp do; by the third, calls of the thread alone.
#pragma once

#include <deque>
#include <vector>

#include "block_threads.hpp"

namespace starling::check {

class thread_port final : public host_port {
 public:
  // Whose calls it makes.
  enum class whose { thread, warp, block };
  thread_port(block_threads& all, block_threads::member& mine, whose calls, int threads);

  host_port& own() override;
  // Where a warp is one thread, that thread's.
  host_port& warp() override;
  void sync(where at) override;
  void sync_part(int first, int count, where at) override;
  int votes(bool value, where at) override;
  const std::byte* gather(const void* value, std::size_t bytes, where at) override;

  void come_alike(const char* what, std::initializer_list<std::uint64_t> arguments, where at) override;

  void put(const transfer& t) override;
  void put_signal(const transfer& t, const signal_update& s) override;
  void get(const transfer& t) override;
  void update(const signal_update& s) override;
  bool wait(const wait_request& w) override;
  bool test(const wait_request& w) override;
  void atomic(const atomic_call& c) override;
  bool launch(const kernel_launch& k) override;
  void collective(const collective_call& c) override;
  lane_order lanes() override { return {}; }
  void begin_loop() override { all_.begin_loop(mine_); }
  void next_element(std::span<const index_t> at) override { all_.next_element(mine_, at); }
  void end_loop() override { all_.end_loop(mine_); }
  void fence(int context) override;
  void quiet(int context) override;
  int open_context() override;
  void close_context(int context) override;
  bool reach(int pe) override;
  [[noreturn]] void refuse_pe(operation op, int pe, where at) override;
  [[noreturn]] void refuse_address(const void* address, where at) override;
  [[noreturn]] void refuse_barrier(operation op, where at) override;
  std::byte* scratch(std::size_t bytes, where at) override;
  std::byte* staging(std::size_t bytes) override;

 private:
  using request = block_threads::request;
  template <class Make>
  std::uint64_t ask(request r, const Make& make);
  template <class Make>
  [[noreturn]] void refuse(const char* what, where at, const Make& make);
  std::uint64_t near(const void* address) const;
  // Of calls that threads make together.
  block_threads::company& company() const;

  block_threads& all_;
  block_threads::member& mine_;
  whose calls_;
  std::deque<std::vector<std::byte>> staging_;  // of calls of the thread alone
};

}  // namespace starling::check
