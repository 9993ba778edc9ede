// The processes of one machine: they meet, and tell each other things, on the host. All calls but the questions are
// collective: every process makes the same ones in the same order, from one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "board.hpp"
#include "death_watch.hpp"
#include "process_place.hpp"
#include "shared_memory.hpp"

namespace starling {

// What one process says, or all do, by rank.
using word_list = std::vector<std::uint64_t>;

class process_group {
 public:
  // Returns when all processes of the job have come; see meet_first. `terms`: what the machine is to be, in words;
  // `memory_bytes`: what they share.
  process_group(const process_place& place, const std::string& terms, std::size_t memory_bytes, double deadline);
  // As one of a build of that name; for tests.
  process_group(const process_place& place, const std::string& build, const std::string& terms,
                std::size_t memory_bytes, double deadline);
  ~process_group();
  process_group(const process_group&) = delete;
  process_group& operator=(const process_group&) = delete;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  const process_place& place() const { return place_; }
  const file& memory() const { return memory_; }
  // The same in all processes, and of no other group of this host.
  std::string name() const;

  // Called, from another thread, when a process is lost; every call fails from then on. One function at a time; after
  // an empty one has been set no other runs any more.
  void when_lost(std::function<void()> f);

  // What each process says, by rank; of at most most_bytes bytes. `call` is what the caller does: where processes do
  // different things, all get an argument_error. Throws process_error that names who does not come within the deadline,
  // which runs only while `hurried` says so, who has died, and who has given the machine up.
  std::vector<std::string> collect(const char* call, const std::string& mine,
                                   const std::function<bool()>& hurried = {});
  std::vector<word_list> collect(const char* call, const word_list& mine);
  void meet(const char* call) { (void)collect(call, std::string()); }
  // Throws argument_error in all processes unless all say the same.
  void expect_same(const char* call, const word_list& mine, const char* what);

  static constexpr std::size_t most_bytes = 7680;

  // Not collective. Whether a process is lost, and the process_error for it, if there is.
  bool has_lost() const { return board_->lost.load() != 0; }
  void expect_alive(const char* call) const { check_lost(call); }
  // Runs f while no thread of this object does; who is lost meanwhile is noticed afterwards.
  template <class F>
  void undisturbed(const F& f) {
    watch_->pause();
    try {
      f();
    } catch (...) {
      watch_->resume();
      throw;
    }
    watch_->resume();
  }

 private:
  process_group(const process_place& place, struct rendezvous_result found, double deadline);

  void arrive(const char* call, const std::function<bool()>& hurried);
  void check_lost(const char* call) const;
  void check_left(const char* call) const;
  [[noreturn]] void give_up(const char* call);
  void lose(int rank, loss how);
  board::seat& seat(int rank) const { return board_->seats[rank]; }

  process_place place_;
  double deadline_;
  file memory_;
  mapping words_;
  board* board_;
  std::uint64_t meetings_ = 0;
  std::mutex loss_mutex_;
  std::function<void()> when_lost_;
  std::unique_ptr<death_watch> watch_;
};

}  // namespace starling
