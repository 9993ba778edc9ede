// The port of one block under a schedule: checks what the block asks for and hands it to the schedule.
#pragma once

#include <vector>

#include "../scratch_memory.hpp"
#include "schedule.hpp"

namespace starling::check {

class scheduled_port final : public host_port {
 public:
  scheduled_port(schedule& s, actor& a, std::size_t scratch_bytes)
      : schedule_(s), actor_(a), scratch_bytes_(scratch_bytes) {}

  void put(const transfer& t) override;
  void put_signal(const transfer& t, const signal_update& s) override;
  void get(const transfer& t) override;
  void update(const signal_update& s) override;
  void wait(const wait_request& w) override;
  bool test(const wait_request& w) override;
  void atomic(void* address, std::size_t bytes, int pe, where at, void (*apply)(void*), void* context) override;
  void collective(const collective_call& c) override;
  lane_order lanes() override { return schedule_.order_of_lanes(); }
  void fence() override;
  void quiet() override;
  [[noreturn]] void refuse_pe(operation op, int pe, where at) override;
  [[noreturn]] void refuse_barrier(operation op, where at) override;
  std::byte* scratch(std::size_t bytes, where at) override;
  std::byte* staging(std::size_t bytes) override;

 private:
  [[noreturn]] void fail(defect what, const std::string& text);
  // Fails unless the elements lie in allocations of the PE.
  void check_remote(const char* what, const void* address, const transfer& t, index_t stride);
  void check_remote(const char* what, const void* address, std::size_t bytes, int pe, where at);
  // Fails unless the elements at the near side (source of a put, destination of a get) lie in one live allocation of
  // the own PE or in one piece of scratch; of memory of the process nothing is known, and it passes.
  void check_near(const char* what, const char* side, const void* address, const transfer& t, index_t stride);
  void check_near(const char* what, const char* side, const void* address, std::size_t bytes, where at);

  schedule& schedule_;
  actor& actor_;
  std::size_t scratch_bytes_;
  scratch_memory scratch_;
  std::vector<std::byte> staging_;
};

}  // namespace starling::check
