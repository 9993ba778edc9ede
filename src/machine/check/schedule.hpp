// One execution of programs under one seed: blocks take turns at every call, and what they send arrives when the seed
// says. Stops at the first defect.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "cards.hpp"
#include "clock.hpp"
#include "collectives.hpp"
#include "describe.hpp"
#include "finding.hpp"
#include "host_call.hpp"
#include "host_range.hpp"
#include "network.hpp"
#include "scheduled_block.hpp"
#include "spins.hpp"
#include "starling/machine/kernel.hpp"
#include "sync_variables.hpp"

namespace starling::check {

// Unwinds a kernel whose schedule is over. Not a std::exception: kernels that catch those do not swallow it.
struct schedule_over {};

// What a schedule runs: the blocks of all programs.
struct workload {
  std::vector<scheduled_block> scheduled;  // with who they are
  std::vector<fiber*> fibers;              // by block; their loop is fiber_loop
  memory_map memory;
  int n_pes = 0;
  int n_programs = 0;
  int threads = 1;                // of a block; 0: as the seed says
  std::vector<int> most_pending;  // launches on a PE that have not begun, by program; empty: of streams
  // Runs what a block of a program has launched on a block of kind launched.
  std::function<void(scheduled_block&, const kernel_launch&)> run_launched = {};
  const card_setting* cards = nullptr;      // null: all PEs are on one host
  const simulation_costs* clock = nullptr;  // null: seeds say what happens next
};

// Which block of which schedule a fiber runs. The schedule may change while the fiber rests.
struct fiber_slot {
  class schedule* of = nullptr;
  std::size_t block = 0;
};
void fiber_loop(void* slot);

class schedule final : private card_events {
 public:
  schedule(workload& w, shadow& memory, access_marks& marks, const host_ranges& touched);

  // Executes; what is found, or nothing. Throws what a kernel threw. `watched`: bytes whose accesses are to be kept in
  // marks.seen.
  std::optional<finding> execute(std::uint64_t seed, const std::optional<conflict>& watched);

  std::uint64_t calls() const { return calls_; }
  std::uint64_t deliveries() const { return network_.deliveries(); }
  // Without a clock 0.
  double simulated_ns() const { return clock_ ? clock_->now() : 0; }

  // ---- for ports; a call begins with begin_call, which lets others have their turn ----

  void begin_call(scheduled_block& a, const call& c);
  void put(scheduled_block& a, const transfer& t, const signal_update* s);
  void get(scheduled_block& a, const transfer& t);
  void update(scheduled_block& a, const signal_update& s);
  bool wait(scheduled_block& a, const wait_request& w);
  bool test(scheduled_block& a, const wait_request& w);
  void atomic(scheduled_block& a, const atomic_call& c);
  void fence(scheduled_block& a, int context);
  void quiet(scheduled_block& a, int context);
  void collective(scheduled_block& a, const collective_call& c);
  lane_order order_of_lanes();

  // A kernel of one block that the block launches beside its program. Some time later one of the blocks of kind
  // launched runs it, by `run_launched` of the workload; only what happened before the launch is ordered before it.
  // False: as many as may have not begun.
  bool launch_beside(scheduled_block& a, const kernel_launch& k);

  // ---- for the threads of a block, which run one after another on fibers beside its own ----

  // How many a block of this kernel has in this schedule, and each of its warps.
  struct thread_counts {
    int of_block = 1;
    int of_warp = 1;
  };
  thread_counts threads_of(const kernel& k) const;
  // A kernel asks for its warp.
  void note_warps(const thread_counts& n) { asked_for_warp_ = n; }
  const std::optional<thread_counts>& asked_for_warp() const { return asked_for_warp_; }
  int threads_drawn() const { return threads_; }
  fiber& fiber_of(const scheduled_block& a) { return *work_.fibers[static_cast<std::size_t>(a.number)]; }
  std::size_t draw(std::size_t n) { return random_.below(n); }
  // A thread runs from here on; it rests, and what it has touched since is entered.
  void thread_runs(scheduled_block& a, int thread, std::uint32_t interval);
  void thread_rests(scheduled_block& a);
  // Until one of these waits, of threads of the block, would return.
  void wait_for_any(scheduled_block& a, std::span<const wait_request* const> all);
  // The block itself does something between.
  void block_rests() { running_marks = nullptr; }
  // What it has touched, before it rests.
  access_marks& marks() { return marks_; }
  // For a loop whose elements are unordered: its number, from 1; and one of its elements is over, or there was none.
  std::uint32_t count_loop() { return ++loops_; }
  void enter_element(const scheduled_block& a, loop_accesses& loop);
  shadow& memory() { return memory_; }
  void check_stack_unused(const scheduled_block& a, byte_range stack);
  std::uint64_t written_alike = 0;  // bytes to which threads of a block, or elements of a loop, have written the same

  // ---- for streams ----

  // The schedule whose stream runs on this thread now; null: none does.
  static schedule* running();
  // Rows of memory of any PE or of the host.
  void copy_rows(std::byte* dest, std::size_t dest_pitch, const std::byte* source, std::size_t source_pitch,
                 std::size_t row_bytes, std::size_t rows);
  void fill(std::byte* dest, unsigned char byte, std::size_t bytes);
  // Runs blocks of a kernel, all of them at the same time if they are resident; returns when they have ended.
  void launch(int blocks, bool resident, const std::function<void(scheduled_block&, int block)>& job);
  // A function of the host. It runs once, in the first schedule that comes to it. What it changed in memory that
  // schedules set back is kept, and in the others done again.
  void call_host(const std::function<void()>& f);
  // Does an operation of the stream that runs now as work of this scope.
  void within(const access_scope* scope, const std::function<void()>& operation);
  // The stream that runs now.
  const scheduled_block& stream() const { return *stream_; }
  void record(const void* event);
  void wait_event(const void* event);

  byte_range stack_of(const scheduled_block& a) const;
  // Whether a range lies in allocations of this PE.
  bool live(const void* address, std::size_t bytes, int pe);
  [[noreturn]] void fail(finding f);

  const workload& work() const { return work_; }
  // Whether a network card is between two PEs.
  bool apart(int pe, int peer) const { return cards_.apart(pe, peer); }

 private:
  friend void fiber_loop(void* slot);
  void run_one(scheduled_block& a);
  void turn(scheduled_block& a);
  void draw_threads(std::uint64_t seed);
  void sleep(scheduled_block& a);
  scheduled_block* choose();
  scheduled_block* choose_by_time();
  scheduled_block& pick();
  void deliver(bool cards_idle);
  void turn_of_card();
  std::vector<scheduled_block*> trying() const;
  void delivered(const network::delivery& d);
  void found_by_card(finding f) override;
  void ready_by_card(scheduled_block& a) override { make_ready(a); }
  void delivered_by_card(const network::delivery& d) override { delivered(d); }
  void turns_of_cards() override;
  void wait_for_card(scheduled_block& a) override;
  void get_by_card(scheduled_block& a, const transfer& t, outstanding_operation& op);
  void note_atomic(scheduled_block& a, const atomic_call& c, std::uint64_t before, std::uint64_t after, bool stored);
  void make_ready(scheduled_block& a);
  void wake(const void* address);
  void wake_values();
  bool time_out();
  void stuck();
  void note(finding f);

  void resume(scheduled_block& a);
  void flush(scheduled_block& a);
  void check_bad_access(scheduled_block& a);
  void enter(const void* start, const transfer& t, index_t stride, const access& who, bool write,
             const happens_before& happened_before);
  void enter_bytes(const void* start, std::size_t bytes, const access& who, bool write,
                   const happens_before& happened_before);
  void enter_near(std::uintptr_t start, std::size_t bytes, const access& who, bool write);
  void check_host_reads(const scheduled_block& a, const std::byte* source, std::size_t bytes);
  void complete_all(scheduled_block& a, int context);
  void end_outstanding(scheduled_block& a, int context);
  void raise_at_once(scheduled_block& a, const atomic_call& c);
  const happens_before& happened_before_put(scheduled_block& a, int pe, int context);
  release release_of(scheduled_block& a, int pe, bool orders, int context);
  void acquire(scheduled_block& a, const snapshot& s);
  void start_launched(scheduled_block& stream, scheduled_block& a,
                      const std::function<void(scheduled_block&, int)>& job, int block,
                      const snapshot& happened_before);
  void run_on_host(scheduled_block& a, const std::function<void()>& f, host_call& made);
  void repeat(const host_call& made);
  snapshot* snapshot_of_all(scheduled_block& a);
  void end_launched(scheduled_block& a);
  void wake_for_launches(int program, int pe);
  void serve_launches(scheduled_block& a);
  void forget_all(scheduled_block& a);
  void acquire(scheduled_block& a, const wait_request& w);
  void acquire_data(scheduled_block& a, const void* word, std::size_t bytes, bool acquires);
  void prepare_release_by_data(scheduled_block& a, outstanding_operation& op);
  void fetch_later(scheduled_block& a, const atomic_call& c);
  void prepare_raise(scheduled_block& a, outstanding_operation& op, const signal_update& s);
  void keep_source(scheduled_block& a, outstanding_operation& op);

  workload& work_;
  shadow& memory_;
  access_marks& marks_;
  snapshots snapshots_;
  sync_variables sync_;
  network network_;
  collectives collectives_;
  random random_{0};
  std::optional<clock> clock_;
  cards cards_{network_, *this, random_};
  bool card_turn_ = false;  // a card does something, and no block runs
  fiber main_;

  std::vector<scheduled_block*> ready_;
  bool over_ = false;
  std::optional<finding> found_;
  std::exception_ptr thrown_;
  scheduled_block* stream_ = nullptr;                           // that runs now
  std::unordered_map<const void*, snapshot*> recorded_events_;  // with what happened before each
  struct launched_kernel {
    kernel_launch what;
    snapshot* happened_before;  // the launch
  };
  std::map<std::pair<int, int>, std::vector<launched_kernel>> pending_;  // by program and PE: have not begun
  std::map<std::pair<int, std::size_t>, host_call> host_calls_;          // by stream and place in it; of all schedules
  const host_ranges& touched_;                                           // by copies of this work
  std::uint64_t calls_ = 0;
  std::uint32_t loops_ = 0;  // whose elements are unordered
  spins spins_;
  int value_waits_ = 0;  // blocks in a wait for sync variables that may be written as data
  int timed_waits_ = 0;  // blocks in a wait that has a time of its own
  unsigned polls_ = 0;   // calls since anything but polls of signals has happened
  happens_before with_fenced_;

  // The style of the seed.
  bool canonical_ = false;
  bool by_priority_ = false;
  unsigned delivery_chance_ = 0;  // of 256
  unsigned lane_style_ = 0;
  int threads_ = 1;  // of each block
  std::uint64_t warp_draw_ = 0;
  std::optional<thread_counts> asked_for_warp_;  // the last kernel
};

}  // namespace starling::check
