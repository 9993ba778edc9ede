// data_state: one piece of logical data, its instances and who may use them when. Coherence is MSI, asynchronous: flags
// say what will hold once the sync points beside them are over (CUDASTF, section IV.C).
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "data_instance.hpp"
#include "data_layout.hpp"
#include "rare_members.hpp"
#include "starling/stf/access.hpp"
#include "starling/stf/place.hpp"

namespace starling::stf {

class context_state;
struct scope_entry;

// Whose memory an instance is in: a device, of several the first, or host_place, as which managed memory counts.
int pe_of(const data_place& place);
// Who can give work on the instance to a stream: the same, but for managed memory device 0.
int worked_on_by(const data_place& place);

// An instance that stays where it is, with its value, while somebody other than tasks uses it. Meanwhile tasks may read
// the data, if that one only reads too; otherwise they have to stay away.
struct data_hold {
  data_instance* instance = nullptr;  // null: for good
  access_mode mode = access_mode::read;
  sync_point_list before;   // what that one has to wait for
  const char* why = "";     // "is frozen"
  const char* remedy = "";  // "call unfreeze() first"
  bool split = false;       // by parts, which finalize puts together
};

// What one task adds to the value, in an instance of its own, until it is combined.
struct partial_result {
  data_place place;
  memory_block block;
  sync_point_list ready;
};

// Of tasks that reduce into data, in the order of their submission; not part of its instances yet.
struct pending_sum {
  std::vector<partial_result> partials;
  std::shared_ptr<const task_reduction> reduces;  // what they are combined by
  bool starts_over = false;                       // without the value of the instances
};

// The data as coherence sees it. Belongs to who holds the lock. There may be a great many.
struct data_body {
  std::uint64_t id = 0;
  std::uint64_t version = 0;  // how many tasks have written it
  data_layout what;
  instance_list instances;
  bool writes_back = true;  // the user's memory is to have the value in the end
  bool secret = false;      // its copies are wiped, and none is made to make room
  bool promised = false;    // instances are flagged for the value of tasks that are recorded; see promised_values

  // The task that wrote it last, or those that reduced since, and those that read it since; only when somebody wants a
  // drawing.
  struct drawn_users {
    std::vector<std::uint64_t> writers;
    std::vector<std::uint64_t> readers;
    bool reducers = false;
  };
  // When the value is expected to be there, in which of the scheduler's rounds.
  struct expected_value {
    double at = 0;
    std::uint64_t round = 0;
  };
  struct rare_state {
    std::string name;
    std::string failed_by;  // the task that should have written it and threw
    std::vector<std::shared_ptr<data_hold>> holds;
    pending_sum sum;
    scope_entry* in_scope = nullptr;  // while a scope that uses it is recorded
    drawn_users drawn;
    expected_value expected;
  };
  rare_members<rare_state> rare;

  const std::string& name() const { return rare->name; }
  const std::string& failed_by() const { return rare->failed_by; }
  // Empty: it has not failed.
  void set_failed_by(std::string task) {
    if (rare || !task.empty()) rare.change().failed_by = std::move(task);
  }
  const std::vector<std::shared_ptr<data_hold>>& holds() const { return rare->holds; }
  void hold(std::shared_ptr<data_hold> h) { rare.change().holds.push_back(std::move(h)); }
  void let_go(const std::shared_ptr<data_hold>& h) { std::erase(rare.change().holds, h); }
  const pending_sum& sum() const { return rare->sum; }
  scope_entry* in_scope() const { return rare->in_scope; }

  // "logical data 'x'", or its number and the line where it was made.
  std::string describe() const;
  // Of drawings, when it was written otherwise than by a task.
  void forget_users() {
    if (rare) rare.change().drawn = {};
  }
  int valid_instances() const;
  bool has_value() const { return valid_instances() > 0 || !sum().partials.empty(); }
  bool held(const data_instance& i) const;
  // Otherwise ask expect_usable.
  bool free_to_use() const { return holds().empty() && failed_by().empty(); }
  // Throws argument_error when `who` cannot use it like this now, because it is held; task_error when it has no value
  // that could be read, because a task threw.
  void expect_usable(access_mode mode, const std::string& who) const;
  bool in_users_memory() const;
  // Whether the user is promised the value there.
  bool owed_to_user() const { return writes_back && in_users_memory(); }
  // Whether the user's memory lacks the value, which another instance has.
  bool to_be_written_back() const;
};

class data_state : public std::enable_shared_from_this<data_state> {
 public:
  data_state(std::shared_ptr<context_state> context, data_description what);
  data_state(const data_state&) = delete;
  data_state& operator=(const data_state&) = delete;
  // The value goes back to the user's memory and the instances to their places' memory, without waiting. While an
  // exception unwinds nothing goes back, and tasks have let go of the user's memory when this returns.
  ~data_state();

  // For the length of a task's submission. Throws argument_error when this thread has it already or waits in a circle
  // with other threads that do, task_error when another one keeps it longer than coherence::patience.
  void lock();
  bool try_lock();
  void unlock();
  [[noreturn]] void refuse_second_task() const;
  bool mine() const { return holder_ == std::this_thread::get_id(); }
  std::thread::id holder() const { return holder_; }

  const std::shared_ptr<context_state> context;
  data_body body;

  // Of data_registry.
  struct {
    data_state* before = nullptr;
    data_state* after = nullptr;
  } listed;
  bool is_listed = false;

 private:
  bool take_users_memory(const data_description& what, data_instance& mine) const;

  const int exceptions_ = std::uncaught_exceptions();  // that unwound when it was made
  // Who waits counts itself and looks whether it is held; who lets go says so and looks whether anybody waits. All of
  // this is in one order, so that one of them sees the other.
  std::atomic<int> waiting_{0};
  std::atomic<bool> held_{false};
  std::atomic<std::thread::id> holder_{};
};

}  // namespace starling::stf
