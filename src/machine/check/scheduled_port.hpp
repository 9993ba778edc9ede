// The port of one block under a schedule: checks what the block asks for and hands it to the schedule.
#pragma once

#include <vector>

#include "schedule.hpp"
#include "scratch_area.hpp"

namespace starling::check {

class scheduled_port final : public host_port {
 public:
  // `closure`: of the kernel that the block runs.
  scheduled_port(schedule& s, scheduled_block& a, scratch_area& area, std::size_t scratch_bytes, byte_range closure)
      : schedule_(s), block_(a), area_(area), scratch_bytes_(scratch_bytes), closure_(closure) {}
  ~scheduled_port() override;
  scheduled_port(const scheduled_port&) = delete;
  scheduled_port& operator=(const scheduled_port&) = delete;

  void put(const transfer& t) override;
  void put_signal(const transfer& t, const signal_update& s) override;
  void get(const transfer& t) override;
  void update(const signal_update& s) override;
  bool wait(const wait_request& w) override;
  bool test(const wait_request& w) override;
  void atomic(const atomic_call& c) override;
  bool launch(const kernel_launch& k) override;
  void collective(const collective_call& c) override;
  lane_order lanes() override { return schedule_.order_of_lanes(); }
  void begin_loop() override;
  void next_element(std::span<const index_t> at) override;
  void end_loop() override;
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

  // Memory of the process that is the block's too: the stacks of its threads.
  void add_memory_of_block(byte_range r) { of_block_.push_back(r); }

 private:
  [[noreturn]] void fail(defect what, const std::string& text);
  // Fails unless the elements lie in allocations of the PE.
  void check_remote(const char* what, const void* address, const transfer& t, index_t stride);
  void check_remote(const char* what, const void* address, std::size_t bytes, int pe, where at);
  void check_words(const char* what, const wait_request& w);
  call call_of(const char* what, const wait_request& w) const;
  // Fails unless the elements at the near side (source of a put, destination of a get) lie in one live allocation of
  // the own PE, in one piece of scratch, or in memory of the block: its stack, the kernel's closure, and for a source
  // constants of the program.
  void check_source(const char* what, const transfer& t);
  void check_destination(const char* what, const transfer& t);
  struct near_side;
  void check_near(const near_side& n);
  void check_near_run(const near_side& n, const std::byte* start, std::size_t bytes);
  bool is_of_block(const void* address, std::size_t bytes, bool to_read) const;

  schedule& schedule_;
  scheduled_block& block_;
  scratch_area& area_;
  std::size_t scratch_bytes_;
  byte_range closure_;
  int slice_ = -1;  // of scratch memory, once the block has asked for some
  std::size_t scratch_used_ = 0;
  std::vector<std::byte> staging_;
  std::vector<byte_range> of_block_;
  std::optional<loop_accesses> loop_;  // that runs
};

}  // namespace starling::check
