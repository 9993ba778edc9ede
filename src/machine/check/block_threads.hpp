// The threads of one block in check mode: each runs the kernel on a fiber of its own, until a call or a barrier, in an
// order that the seed draws. Calls of the block are collective among them, and made once; calls of a thread are
// made when it comes. Between two barriers of the block its threads are unordered: see thread_accesses.hpp.
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
  // `port`: by which the block's calls are made. All on the block's fiber.
  block_threads(schedule& s, scheduled_block& a, scheduled_port& port, thread_fibers& fibers, int threads);
  ~block_threads();
  block_threads(const block_threads&) = delete;
  block_threads& operator=(const block_threads&) = delete;

  // Runs a kernel on all threads, each with the port that it is handed.
  void run(const std::function<void(host_port&)>& kernel);

  // What a thread asks for at a call.
  struct request {
    enum class kind { none, alone, part, meeting } how = kind::none;
    const char* what = "";
    where at{"", 0};
    bool orders = false;                                   // it is a barrier
    std::vector<std::uint64_t> arguments{};                // that all threads must pass alike
    const wait_request* wait = nullptr;                    // of a wait by itself
    const std::function<std::uint64_t()>* make = nullptr;  // makes the call; what it answers
    const void* value = nullptr;                           // for gather
    std::size_t value_bytes = 0;
    // What the threads read, or write, of memory in the call, before its barrier: elements of a transfer.
    const transfer* touches = nullptr;
    bool writes = false;
    bool atomic = false;
    // Sync variables that a call of one thread acquires and releases.
    const void* acquires = nullptr;
    const void* releases = nullptr;
    // Of a barrier of a part of the threads: which they are.
    int first = 0;
    int count = 0;
  };

 private:
  friend class thread_port;
  struct member;

  // Of a thread: rests until its request is met; the answer.
  std::uint64_t ask(member& m, const request& r);
  // Of a thread: comes to a call that the first one makes for all. Nobody waits there, as on a GPU; who has come with
  // other arguments fails at once, who has left one out at the next call in which all meet.
  void come_alike(member& m, request r);
  // Of a thread: its part of a loop whose elements are unordered.
  void begin_loop(member& m);
  void next_element(const member& m, std::span<const index_t> at);
  void end_loop(member& m);
  void step(member& m);
  void rest(const member& m);
  void sort_in(member& m);
  member* next();
  member* wait_for_any();
  void make_alone(member& m);
  void meet();
  void meet_in_part(member& last);
  [[noreturn]] void fail_unordered(thread_conflict c);
  void enter_call(const request& r, int thread);
  void check_alike();
  void check_all_came();
  [[noreturn]] void fail_unlike(const request& first, int thread, const request& other, int other_thread);
  [[noreturn]] void fail_missing(const member& here);
  [[noreturn]] void fail_missing_in_part(const member& here);
  void end_members();
  std::uint64_t argument_of(const member& m, const void* address) const;
  static std::string text_of(const request& r, int thread);
  fiber& home() const { return schedule_.fiber_of(block_); }
  scheduled_port& port() { return port_; }
  const std::byte* gathered() const { return gathered_.data(); }

  schedule& schedule_;
  scheduled_block& block_;
  scheduled_port& port_;
  thread_fibers& fibers_;
  thread_accesses accesses_;
  std::vector<std::unique_ptr<member>> members_;
  // Those that have not returned: who can run, who waits by itself, who has come to a barrier of a part of them, and
  // who has come to a call of the block.
  std::vector<member*> can_;
  std::vector<member*> waiting_;
  std::vector<member*> in_parts_;
  std::vector<member*> here_;
  std::vector<std::byte> gathered_;
  // Calls since the threads last met that one makes for all, each as the thread made it that came to it first.
  struct common_call {
    request made;
    int thread;
  };
  std::vector<common_call> common_;
  // Loops since the last barrier, in the order in which each thread comes to them.
  std::vector<std::unique_ptr<loop_accesses>> loops_;
  bool ending_ = false;
  std::exception_ptr thrown_;
};

}  // namespace starling::check
