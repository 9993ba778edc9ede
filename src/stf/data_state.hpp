// data_state: one piece of logical data, its instances and who may use them when. Coherence is MSI, asynchronous: flags
// say what will hold once the moments beside them are over (CUDASTF, section IV.C).
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "moment.hpp"
#include "place_memory.hpp"
#include "starling/stf/data_interface.hpp"
#include "starling/stf/place.hpp"

namespace starling::stf {

class context_state;
struct scope_entry;

// One copy of the data.
struct data_instance {
  data_place place;
  std::byte* start = nullptr;
  memory_block block;  // of the place's memory
  local_memory pages;  // of a composite place instead
  bool users_memory = false;
  bool packed = true;  // otherwise the user's memory in parts, which tasks cannot have
  bool valid = false;
  moment_list ready;  // when it holds the value
  moment_list used;   // when all who read it have
  std::uint64_t last_use = 0;
  std::shared_ptr<std::atomic<int>> holds;  // how many recorded scopes need it where it is; null: none so far

  bool held() const { return holds && *holds > 0; }
};

// The data as coherence sees it. Belongs to who holds the lock.
struct data_body {
  std::uint64_t id = 0;
  data_description what;
  std::string name;
  std::vector<std::unique_ptr<data_instance>> instances;
  std::string failed_by;            // the task that should have written it and threw
  scope_entry* in_scope = nullptr;  // while a scope that uses it is recorded
  // Since the last write, that task first; only when somebody wants a drawing.
  std::vector<std::uint64_t> users;
  // When the value is expected to be there, in which of the scheduler's rounds.
  struct {
    double at = 0;
    std::uint64_t round = 0;
  } expected;

  // "logical data 'x'", or its number.
  std::string describe() const;
  int valid_instances() const;
  // Whether the user's memory lacks the value, which another instance has.
  bool to_be_written_back() const;
};

class data_state {
 public:
  data_state(std::shared_ptr<context_state> context, data_description what);
  data_state(const data_state&) = delete;
  data_state& operator=(const data_state&) = delete;
  // The value goes back to the user's memory and the instances to their places' memory, without waiting.
  ~data_state();

  // For the length of a task's submission. Throws argument_error when this thread has it already or waits in a circle
  // with other threads that do, task_error when another one keeps it longer than coherence::patience.
  void lock();
  bool try_lock();
  void unlock();
  bool mine() const { return holder_ == std::this_thread::get_id(); }
  std::thread::id holder() const { return holder_; }

  const std::shared_ptr<context_state> context;
  data_body body;

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  bool held_ = false;
  int waiting_ = 0;
  std::atomic<std::thread::id> holder_{};
};

}  // namespace starling::stf
