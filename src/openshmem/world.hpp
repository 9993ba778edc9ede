// The PE that this process is: the machine that its job shares, the memory of all PEs, and waiting for others. There is
// at most one at a time, between shmem_init and shmem_finalize.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "control.hpp"
#include "errors.hpp"
#include "globals.hpp"
#include "job.hpp"
#include "machine/host/parking.hpp"

namespace starling::openshmem {

class teams;
class heap;
class contexts;

class world {
 public:
  // Returns when all processes of the job have come; without a launcher this process is the only one. Collective, as
  // is end(). Throws what machine::distributed throws.
  world();
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  // The one there is. Throws argument_error that says so where there is none.
  static world& here();
  static world* now();
  static void begin();
  // All PEs have come here; the globals stay as they are.
  static void end();

  int me() const { return me_; }
  int size() const { return size_; }
  teams& all_teams() { return *teams_; }
  heap& memory() { return *heap_; }
  contexts& all_contexts() { return *contexts_; }
  job& all_processes() { return job_; }
  control& controls(int pe) { return *reinterpret_cast<control*>(on(pe, control_at_)); }
  std::size_t controls_at() const { return control_at_; }

  // Where this process has what lies at an address of its own symmetric memory, on a PE. Throws range_error for a PE
  // that does not exist and for bytes that are not symmetric; `what` names the argument.
  std::byte* reach(const void* address, std::size_t bytes, int pe, const char* what) {
    check_pe(pe);
    return on(pe, place(address, bytes, what));
  }
  // The same of this PE: the address by which all processes know it.
  std::byte* own(const void* address, std::size_t bytes, const char* what) {
    return on(me_, place(address, bytes, what));
  }
  // How far into a PE's memory an address lies, and back.
  std::size_t place(const void* address, std::size_t bytes, const char* what) const;
  bool find(const void* address, std::size_t bytes, std::size_t& at) const;
  std::byte* on(int pe, std::size_t at) const { return start_ + static_cast<std::size_t>(pe) * stride_ + at; }
  // The address that this PE's program has for it.
  void* for_program(std::size_t at) const { return on(me_, at); }
  void check_pe(int pe, const char* what = "pe") const;

  // After bytes of any PE's memory have been written: those who wait for them look.
  void written(const void* address, std::size_t bytes) {
    if (lot_.values_awaited()) lot_.wake_range(address, bytes);
  }
  void changed(const void* word) { lot_.wake(word); }

  // Returns when ready(). Throws process_error when a process has died, late_error with `what()` after the deadline.
  // `word` is what ready() looks at, or null for several; somebody calls changed() or written() for it.
  using text = std::function<std::string()>;
  void wait_for_value(const void* word, const std::function<bool()>& ready, const text& what);
  // `longer`: seconds beyond the deadline, so that who knows more is the first to tell.
  void wait_for_change(const void* word, const std::function<bool()>& ready, const text& what, double longer = 0);
  // Of a program that tests words in a loop: now and then lets others run. Throws as waits do.
  void tested_in_vain();
  // Throws process_error when a process has died.
  void expect_alive();
  double deadline() const { return deadline_; }

  // Whether a PE has asked for the end of all.
  bool is_ending() { return controls(0).exit.load() != 0; }
  // Ends all processes of the job with this exit code, this one last.
  [[noreturn]] void end_all(int status);

 private:
  bool stopped() const;
  void finish_wait(bool yes, const text& what);
  void watch();
  void make_memory();

  globals globals_;
  job job_;
  std::byte* start_ = nullptr;
  std::size_t stride_ = 0;
  std::size_t globals_at_ = 0;
  std::size_t control_at_ = 0;
  int me_ = 0;
  int size_ = 1;
  double deadline_ = 0;
  host::parking& lot_;
  std::unique_ptr<heap> heap_;
  std::unique_ptr<teams> teams_;
  std::unique_ptr<contexts> contexts_;
  std::atomic<std::uint32_t> vain_{0};
  std::atomic<bool> over_{false};
  std::thread watcher_;
};

// What shmem_global_exit does, within a job or without.
[[noreturn]] void end_job(int status);

}  // namespace starling::openshmem
