// The PE that this process is: the machine that its job shares, the memory of all PEs, and waiting for others. There is
// at most one at a time, between shmem_init and shmem_finalize.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "control.hpp"
#include "errors.hpp"
#include "far_access.hpp"
#include "globals.hpp"
#include "job.hpp"
#include "machine/distributed/messenger.hpp"
#include "machine/host/parking.hpp"

namespace starling::openshmem {

class teams;
class heap;
class contexts;
class far_meetings;

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
  far_meetings& meetings() { return *meetings_; }
  job& all_processes() { return job_; }
  control& controls(int pe) { return *reinterpret_cast<control*>(on(pe, control_at_)); }
  std::size_t controls_at() const { return control_at_; }

  // How far into a PE's memory an address lies. Throws range_error for bytes that are not symmetric; `what` names the
  // argument.
  std::size_t place(const void* address, std::size_t bytes, const char* what) const;
  bool find(const void* address, std::size_t bytes, std::size_t& at) const;
  // The address of that on a PE, at which this process has the memory too if the PE is near: of this host.
  std::byte* on(int pe, std::size_t at) const { return start_ + static_cast<std::size_t>(pe) * stride_ + at; }
  bool is_near(int pe) const { return near_[static_cast<std::size_t>(pe)]; }
  // Of this PE.
  std::byte* own(const void* address, std::size_t bytes, const char* what) {
    return on(me_, place(address, bytes, what));
  }
  // Into and out of memory of any PE. What is put into that of other hosts is there after finish().
  void store(int pe, std::size_t at, const void* from, std::size_t bytes) {
    if (bytes > 0) store(pe, {on(pe, at), bytes, static_cast<const std::byte*>(from), bytes, bytes, 1});
  }
  void load(int pe, std::size_t at, void* to, std::size_t bytes) {
    if (bytes > 0) load(pe, {static_cast<std::byte*>(to), bytes, on(pe, at), bytes, bytes, 1});
  }
  // The same of rows, at least one.
  void store(int pe, const copied_rows& c);
  void load(int pe, const copied_rows& c);
  far_access& far() { return far_; }
  void finish() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    far_.finish();
  }
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
  // The same for a word of a PE that may be of another host: then it is asked for now and then.
  void wait_for_word_of(int pe, const void* word, const std::function<bool()>& ready, const text& what);
  // Of a program that tests words in a loop: now and then lets others run. Throws as waits do.
  void tested_in_vain();
  // Throws process_error when a process has died.
  void expect_alive();
  double deadline() const { return deadline_; }

  // Whether a PE has asked for the end of all.
  bool is_ending() { return controls(first_here_).exit.load() != 0; }
  // Ends all processes of the job with this exit code, this one last.
  [[noreturn]] void end_all(int status);
  // By whoever is about to end this process with that exit code: its part in the engine between hosts is ended, so that
  // the launcher waits for the others.
  void end_engine(int status);
  bool has_far() const { return job_.far() != nullptr; }

 private:
  bool stopped() const;
  // While what it gives lives, this process waits for others.
  std::optional<messenger::awaited> waiting();
  void finish_wait(bool yes, const text& what);
  void watch();
  void make_memory();
  // Of the processes of this host.
  void say_end(std::uint32_t word);

  globals globals_;
  job job_;
  std::vector<bool> near_;  // by PE
  int first_here_ = 0;      // the first PE of this host
  far_access far_;
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
  std::unique_ptr<far_meetings> meetings_;
  std::atomic<std::uint32_t> vain_{0};
  std::atomic<bool> over_{false};
  std::thread watcher_;
};

// What shmem_global_exit does, within a job or without.
[[noreturn]] void end_job(int status);

}  // namespace starling::openshmem
