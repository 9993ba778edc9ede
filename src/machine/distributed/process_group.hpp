// The processes of one machine: they meet, and tell each other things, on the host. All calls but the questions are
// collective: every process makes the same ones in the same order, from one thread at a time.
//
// Those of one host do so in memory that they share (board_group); those of several send messages (engine_group).
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "local_socket.hpp"
#include "process_place.hpp"
#include "starling/base/error.hpp"

namespace starling {

// What one process says, or all do, by rank.
using word_list = std::vector<std::uint64_t>;

class process_group {
 public:
  explicit process_group(process_place place) : place_(std::move(place)) {}
  virtual ~process_group() = default;
  process_group(const process_group&) = delete;
  process_group& operator=(const process_group&) = delete;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  const process_place& place() const { return place_; }
  // What the processes of this host share.
  virtual const file& memory() const = 0;
  // The same in all processes, and of no other group of this host.
  virtual std::string name() const = 0;

  // Called, from another thread, when a process is lost; every call fails from then on. One function at a time; after
  // an empty one has been set no other runs any more.
  virtual void when_lost(std::function<void()> f) = 0;

  // Not collective: gives the machine up. Others may still read this process's memory until they do so too, which it
  // waits for where they need it for that.
  virtual void leave() {}

  // What each process says, by rank; of at most most_bytes bytes. `call` is what the caller does: where processes do
  // different things, all get an argument_error. Throws process_error that names who does not come within the deadline,
  // which runs only while `hurried` says so, who has died, and who has given the machine up.
  std::vector<std::string> collect(const char* call, const std::string& mine,
                                   const std::function<bool()>& hurried = {});
  std::vector<word_list> collect(const char* call, const word_list& mine);
  // The same of texts of any length, and of lists of values, which come in the order of the ranks.
  std::vector<std::string> collect_long(const char* call, const std::string& mine);
  template <class Value>
  std::vector<Value> collect_all(const char* call, const std::vector<Value>& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> all;
    for (const std::string& said :
         collect_long(call, {reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(Value)})) {
      const std::size_t before = all.size();
      all.resize(before + said.size() / sizeof(Value));
      if (!said.empty()) std::memcpy(all.data() + before, said.data(), said.size());
    }
    return all;
  }
  void meet(const char* call) { (void)collect(call, std::string()); }
  // Throws argument_error in all processes unless all say the same.
  void expect_same(const char* call, const word_list& mine, const char* what);

  static constexpr std::size_t most_bytes = 7680;

  // Not collective. Whether a process is lost, and the process_error for it, if there is.
  virtual bool has_lost() const = 0;
  virtual void expect_alive(const char* call) const = 0;

  // Runs f while no thread of this object does; who is lost meanwhile is noticed afterwards.
  template <class F>
  void undisturbed(const F& f) {
    pause();
    try {
      f();
    } catch (...) {
      resume();
      throw;
    }
    resume();
  }

 protected:
  virtual void pause() = 0;
  virtual void resume() = 0;
  // What each process says, once all have said something.
  virtual std::vector<std::string> exchange(const char* call, const std::string& mine,
                                            const std::function<bool()>& hurried) = 0;
  // In words, what has become of another process.
  process_error died(const char* call, int other, std::int64_t system_number) const;
  process_error silent(const char* call, int other, std::int64_t system_number, double deadline) const;
  process_error gave_up(const char* call, int other) const;

 private:
  process_place place_;
};

}  // namespace starling
