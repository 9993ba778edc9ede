// data_state: one piece of logical data, its instances and who may use them when. Coherence is MSI, asynchronous: flags
// say what will hold once the moments beside them are over (CUDASTF, section IV.C).
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "place_memory.hpp"
#include "rare_text.hpp"
#include "starling/machine/access_scope.hpp"
#include "starling/stf/access.hpp"
#include "starling/stf/data_interface.hpp"
#include "starling/stf/place.hpp"
#include "stf/order/moment.hpp"

namespace starling::stf {

class context_state;
struct scope_entry;

// Whose memory an instance is in: a device, of several the first, or host_place.
int pe_of(const data_place& place);

// One copy of the data.
struct data_instance {
  data_place place;
  std::byte* start = nullptr;
  memory_block block;  // of the place's memory
  local_memory pages;  // of a composite place instead
  pinned_memory pin;   // of the user's memory on the host
  named_memory label;  // of memory other than a block's
  bool users_memory = false;
  bool secret = false;  // its memory is wiped before it is anything else's
  // Otherwise the user's memory in parts, or not to be had in a stream's order: tasks get other instances.
  bool packed = true;
  bool valid = false;
  moment_list ready;  // when it holds the value
  moment_list used;   // when all who read it have
  std::uint64_t last_use = 0;
  std::shared_ptr<std::atomic<int>> holds;  // how many recorded scopes need it where it is; null: none so far
  bool held() const { return holds && *holds > 0; }

  // Of data with ghosts: what is there, by the number of the source; and when all who read it have. Few data have them,
  // and there may be many data.
  struct ghost {
    std::uint64_t version = 0;  // of the source's value, plus 1
    moment_list ready;
  };
  struct ghost_area {
    std::vector<ghost> all;
    moment_list used;
    moment_list fresh;  // when the memory was no longer used for anything else
  };
  std::unique_ptr<ghost_area> around;
  ghost_area& ghosts() {
    if (!around) around = std::make_unique<ghost_area>();
    return *around;
  }
  // What is there has to come anew.
  void forget_ghosts() {
    if (!around) return;
    for (ghost& g : around->all) g.version = 0;
  }
  // The same, and whoever used them is over at `end`.
  void forget_ghosts(const moment_list& end) {
    if (!around) return;
    forget_ghosts();
    for (ghost& g : around->all) g.ready.clear();
    around->used = end;
  }
  void add_ghost_uses(moment_list& to) const {
    if (!around) return;
    to.add(around->used);
    for (const ghost& g : around->all) to.add(g.ready);
  }
};

// An instance that stays where it is, with its value, while somebody other than tasks uses it. Meanwhile tasks may read
// the data, if that one only reads too; otherwise they have to stay away.
struct data_hold {
  data_instance* instance = nullptr;  // null: for good
  access_mode mode = access_mode::read;
  moment_list before;       // what that one has to wait for
  const char* why = "";     // "is frozen"
  const char* remedy = "";  // "call unfreeze() first"
  bool split = false;       // by parts, which finalize puts together
};

// What one task adds to the value, in an instance of its own, until it is combined.
struct data_addend {
  data_place place;
  memory_block block;
  moment_list ready;
};

// Of tasks that reduce into data, in the order of their submission; not part of its instances yet.
struct pending_sum {
  std::vector<data_addend> addends;
  std::shared_ptr<const task_reduction> reduces;  // what they are combined by
  bool starts_over = false;                       // without the value of the instances
};

// The data as coherence sees it. Belongs to who holds the lock.
struct data_body : pending_sum {
  bool writes_back = true;  // the user's memory is to have the value in the end
  bool secret = false;      // its copies are wiped, and none is made to make room
  bool promised = false;    // instances are flagged for the value of tasks that are recorded; see promised_values
  std::uint64_t id = 0;
  data_description what;
  rare_text name;
  std::vector<std::unique_ptr<data_instance>> instances;
  std::vector<std::shared_ptr<data_hold>> holds;
  std::uint64_t version = 0;        // how many tasks have written it
  rare_text failed_by;              // the task that should have written it and threw
  scope_entry* in_scope = nullptr;  // while a scope that uses it is recorded
  // The task that wrote it last, or those that reduced since, and those that read it since; only when somebody wants a
  // drawing.
  struct drawn_users {
    std::vector<std::uint64_t> writers;
    std::vector<std::uint64_t> readers;
    bool reducers = false;
  };
  std::unique_ptr<drawn_users> drawn;
  drawn_users& users_to_draw() {
    if (!drawn) drawn = std::make_unique<drawn_users>();
    return *drawn;
  }
  // When the value is expected to be there, in which of the scheduler's rounds.
  struct {
    double at = 0;
    std::uint64_t round = 0;
  } expected;

  // "logical data 'x'", or its number and the line where it was made.
  std::string describe() const;
  // Of drawings, when it was written otherwise than by a task.
  void forget_users() { drawn.reset(); }
  int valid_instances() const;
  bool has_value() const { return valid_instances() > 0 || !addends.empty(); }
  bool held(const data_instance& i) const;
  // Otherwise ask expect_usable.
  bool free_to_use() const { return holds.empty() && failed_by.empty(); }
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
    bool yes = false;
  } listed;

 private:
  const int exceptions_ = std::uncaught_exceptions();  // that unwound when it was made
  // Who waits counts itself and looks whether it is held; who lets go says so and looks whether anybody waits. All of
  // this is in one order, so that one of them sees the other.
  std::atomic<bool> held_{false};
  std::atomic<int> waiting_{0};
  std::atomic<std::thread::id> holder_{};
};

}  // namespace starling::stf
