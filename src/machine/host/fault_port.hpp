// The port of a block while a fault plan is in force: lets the plan look at every call, and hands on what is left of it
// to the port that carries it out.
#pragma once

#include <memory>

#include "block_port.hpp"
#include "fault_session.hpp"
#include "running.hpp"

namespace starling::host {

class fault_port final : public host_port {
 public:
  fault_port(std::unique_ptr<block_port> to, fault_session& faults, running& program, int pe, int block)
      : to_(std::move(to)), faults_(faults), program_(program), pe_(pe), block_(block) {}

  void put(const transfer& t) override;
  void put_signal(const transfer& t, const signal_update& s) override;
  void get(const transfer& t) override;
  void update(const signal_update& s) override;
  bool wait(const wait_request& w) override;
  bool test(const wait_request& w) override;
  void atomic(const atomic_call& c) override;
  bool launch(const kernel_launch& k) override { return to_->launch(k); }
  void collective(const collective_call& c) override { to_->collective(c); }
  void fence(int context) override;
  void quiet(int context) override;
  int open_context() override { return to_->open_context(); }
  void close_context(int context) override { to_->close_context(context); }
  bool reach(int pe) override { return to_->reach(pe); }
  void end() override { to_->end(); }
  [[noreturn]] void refuse_barrier(operation op, where at) override { to_->refuse_barrier(op, at); }
  [[noreturn]] void refuse_pe(operation op, int pe, where at) override { to_->refuse_pe(op, pe, at); }
  [[noreturn]] void refuse_address(const void* address, where at) override { to_->refuse_address(address, at); }
  std::byte* scratch(std::size_t bytes, where at) override { return to_->scratch(bytes, at); }
  std::byte* staging(std::size_t bytes) override { return to_->staging(bytes); }

 private:
  fault_call call(operation op, const void* address, int peer, where at, int context = 0) const;
  // Kills and delays happen here; what is to become of the signal is left to the caller.
  fault_effects meet(const fault_call& c);

  std::unique_ptr<block_port> to_;
  fault_session& faults_;
  running& program_;
  int pe_;
  int block_;
};

}  // namespace starling::host
