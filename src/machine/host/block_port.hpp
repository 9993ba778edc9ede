// The port of one block of a running program: checks what the block asks for and carries it out.
#pragma once

#include <vector>

#include "../context_numbers.hpp"
#include "block_queues.hpp"
#include "running.hpp"
#include "scratch_memory.hpp"
#include "starling/device/host_port.hpp"

namespace starling::host {

class block_port final : public host_port {
 public:
  block_port(running& program, int pe, int block)
      : program_(program), pe_(pe), block_(block), queues_(program, pe, block), moved_(program.group().traffic, pe) {}

  void put(const transfer& t) override;
  void put_signal(const transfer& t, const signal_update& s) override;
  void get(const transfer& t) override;
  void update(const signal_update& s) override;
  bool wait(const wait_request& w) override;
  bool test(const wait_request& w) override;
  void atomic(const atomic_call& c) override;
  bool launch(const kernel_launch& k) override { return program_.launch(pe_, k); }
  void collective(const collective_call&) override {}
  void fence(int context) override;
  void quiet(int context) override;
  int open_context() override { return contexts_.open(); }
  void close_context(int context) override { contexts_.close(context); }
  bool reach(int pe) override;
  void end() override;
  [[noreturn]] void refuse_barrier(operation op, where at) override;
  [[noreturn]] void refuse_pe(operation op, int pe, where at) override;
  [[noreturn]] void refuse_address(const void* address, where at) override;
  std::byte* scratch(std::size_t bytes, where at) override;
  std::byte* staging(std::size_t bytes) override;

  // For faults on purpose.
  bool behind_card(int pe) const { return queues_.reach(pe); }
  void lose_link(int context, int pe) { queues_.lose(context, pe); }

 private:
  block_report report(block_state state, operation op, where at) const;
  void wake(const transfer& t) const;
  [[noreturn]] void end_wait(block_state state, const wait_request& w) const;
  // Ends the program unless the bytes lie in one live allocation of an existing PE.
  void check_words(const wait_request& w) const;
  void check_remote(operation op, const void* address, std::size_t bytes, int pe, where at) const;
  // The same for the source of a put and the destination of a get. Symmetric memory must be of the own PE; of memory of
  // the process nothing is known, and it passes.
  void check_near(operation op, const void* address, std::size_t bytes, const transfer& t) const;
  carried way_to(int pe) const { return queues_.reach(pe) ? carried::by_engine : carried::directly; }

  running& program_;
  int pe_;
  int block_;
  scratch_memory scratch_;
  context_numbers contexts_;
  block_queues queues_;
  block_traffic moved_;
  std::vector<std::byte> staging_;
};

}  // namespace starling::host
