// The threads of one block in check mode: each runs the kernel on a fiber of its own, until a call or a barrier, in an
// order that the seed draws. Calls of the block are collective among them, and made once; so are calls of a warp among
// its threads; calls of a thread are made when it comes. Between two barriers of the block its threads are unordered,
// but for what barriers of a warp order: see thread_accesses.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schedule.hpp"
#include "scheduled_port.hpp"
#include "thread_accesses.hpp"

namespace starling::check {

// A stack for one thread of a block at a time; it keeps them when blocks end.
class thread_fibers {
 public:
  struct one {
    one() : own(&one::loop, this) {}
    static void loop(void* self);

    fiber own;
    std::function<void()> job;
    fiber* home = nullptr;  // where it goes when the job is done, or at a call
  };

  std::unique_ptr<one> take();
  void give_back(std::unique_ptr<one> f) { free_.push_back(std::move(f)); }

 private:
  std::vector<std::unique_ptr<one>> free_;
};

class block_threads {
 public:
  // `port`: by which the block's calls are made. All on the block's fiber. `in_warps_of`: threads, a divisor of all.
  block_threads(schedule& s, scheduled_block& a, scheduled_port& port, thread_fibers& fibers, int threads,
                int in_warps_of);
  ~block_threads();
  block_threads(const block_threads&) = delete;
  block_threads& operator=(const block_threads&) = delete;

  // Runs a kernel on all threads, each with the port that it is handed.
  void run(const std::function<void(host_port&)>& kernel);

  // What a thread asks for at a call.
  struct request {
    enum class kind { none, alone, part, warp, block } how = kind::none;
    const char* what = "";
    where at{"", 0};
    bool orders = false;                                   // it is a barrier
    std::vector<std::uint64_t> arguments{};                // that all threads must pass alike
    const wait_request* wait = nullptr;                    // of a wait that does not hold the whole block
    const std::function<std::uint64_t()>* make = nullptr;  // makes the call; what it answers
    const void* value = nullptr;                           // for gather
    std::size_t value_bytes = 0;
    // What the threads read, or write, of memory in the call, before its barrier: elements of a transfer.
    const transfer* touches = nullptr;
    bool writes = false;
    bool atomic = false;
    // Sync variables that a call of a thread or a warp acquires and releases.
    const void* acquires = nullptr;
    const void* releases = nullptr;
    // Of a barrier of a part of the threads: which they are.
    int first = 0;
    int count = 0;
  };

 private:
  friend class thread_port;
  struct member;

  // Threads that make calls together: those of a warp, or all of the block.
  struct company {
    int first = 0;
    int count = 0;
    bool is_block = false;
    std::vector<member*> here{};        // who have come to a call, and wait in it
    std::vector<std::byte> gathered{};  // their values, until they meet again
    // Calls since they last met that one makes for all, each as the thread made it that came to it first.
    struct common_call {
      request made;
      int thread;
    };
    std::vector<common_call> common{};
  };

  // Of a thread: rests until its request is met; the answer.
  std::uint64_t ask(member& m, const request& r);
  // Of a thread: comes to a call that the first one makes for all. Nobody waits there, as on a GPU; who has come with
  // other arguments fails at once, who has left one out at the next call in which all meet.
  void come_alike(member& m, company& c, request r);
  // Of a thread: its part of a loop whose elements are unordered.
  void begin_loop(member& m);
  void next_element(const member& m, std::span<const index_t> at);
  void end_loop(member& m);
  void step(member& m);
  void rest(const member& m);
  void sort_in(member& m);
  member* next();
  member* wait_for_any();
  void make(member& m);
  void make_alone(member& m);
  void come_to_warp(member& m);
  void meet(company& c);
  void order(const company& c);
  void meet_in_part(member& last);
  [[noreturn]] void fail_unordered(thread_conflict c);
  void enter_call(const request& r, int first, int count);
  void check_alike(const company& c);
  void check_all_came(company& c);
  void check_missing();
  [[noreturn]] void fail_unlike(const company& c, const request& first, int thread, const request& other,
                                int other_thread);
  [[noreturn]] void fail_missing(const member& here);
  [[noreturn]] void fail_missing_in_warp(const company& w);
  [[noreturn]] void fail_missing_in_part(const member& here);
  void end_members();
  company& company_of(const member& m);
  void note_warps();
  std::uint64_t argument_of(const member& m, const void* address) const;
  std::string text_of(const request& r, int thread) const;
  std::string instead_text(const member& m) const;
  fiber& home() const { return schedule_.fiber_of(block_); }
  scheduled_port& port() { return port_; }

  schedule& schedule_;
  scheduled_block& block_;
  scheduled_port& port_;
  thread_fibers& fibers_;
  int in_warps_of_;
  thread_accesses accesses_;
  std::vector<std::unique_ptr<member>> members_;
  company all_;
  std::vector<company> warps_;
  // Those that have not returned and are in no call of the block: who can run, who waits by itself or for its warp, and
  // who has come to a barrier of a part of them.
  std::vector<member*> can_;
  std::vector<member*> waiting_;
  std::vector<member*> in_parts_;
  // Loops since the last barrier, in the order in which each thread comes to them.
  std::vector<std::unique_ptr<loop_accesses>> loops_;
  bool ending_ = false;
  std::exception_ptr thrown_;
};

}  // namespace starling::check
