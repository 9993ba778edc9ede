// What a task holds while it is submitted: the data it uses, locked and brought to where the task runs, and what it
// waits for. Of task_run alone.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "starling/machine/access_scope.hpp"
#include "starling/stf/detail/task_reduction.hpp"
#include "starling/stf/task_run.hpp"
#include "stf/context_state.hpp"
#include "stf/persistent/operation_list.hpp"

namespace starling::stf {

// One piece of data that the task uses; it may be named several times among the accesses.
struct used_data {
  std::shared_ptr<data_state> data;
  access_mode mode;
  data_place place;
  bool last_use;  // of the instance
  data_instance* instance = nullptr;
  std::vector<data_instance*> copies{};  // by place, of data that is replicated: the first is `instance`
  std::shared_ptr<const task_reduction> reduces = nullptr;
  memory_block partial{};  // instead of an instance
  sync_point_list partial_free{};
};

std::string describe_task(const std::string& name);

struct task_run::state {
  std::shared_ptr<context_state> context;
  exec_place where;  // automatic: not chosen yet
  std::vector<int> pes;
  std::string name;
  int priority = 0;
  std::optional<scheduler::decision> scheduled;
  std::optional<event> begun;   // when the task is measured
  std::vector<used_data> used;  // in the order of the accesses
  struct seen {
    std::size_t which;  // of `used`
    std::shared_ptr<const ghost_rows> ghosts;
  };
  std::vector<seen> of_access;
  submission inside;
  std::vector<std::unique_lock<data_state>> held;
  std::vector<stream_slot*> slots;
  struct temporary {
    data_place where;
    memory_block block;
  };
  std::vector<temporary> temporaries;
  std::vector<std::pair<std::size_t, memory_block>> scratch;  // by place
  // Of a task that becomes part of a persistent program:
  operation_list* operations = nullptr;
  std::size_t first_operation = 0;
  std::vector<std::vector<int>> newest_operations;  // by place: what its next one comes after
  // In check mode, what the task's work may touch:
  std::string shown;            // "task 'x'", or its number
  call_site at = no_call_site;  // where its first data was named
  std::shared_ptr<const access_scope> may_touch;
  std::vector<scoped_stream> scoped;  // by place

  ~state() {
    give_back_partials();
    for (stream_slot* slot : slots) slot->leave();
  }

  // The data whose rows are around that of an access; each may come several times.
  template <class F>
  void for_each_ghost(const F& f) const {
    for (const seen& a : of_access)
      if (a.ghosts)
        for (const ghost_rows::source& s : a.ghosts->sources) f(s.data);
  }
  data_place place_of(const data_access& a) const;
  void collect(const std::vector<data_access>& accesses);
  void lock_all();
  void begin();
  // Of a beginning that failed.
  void give_back_partials() noexcept;
  void fill_partials();
  void begin_or_stop_recording();
  void schedule(const task_description& what);
  std::uint64_t signature(const task_description& what) const;
  void draw(std::uint64_t number);
  // Tells check mode what the task's work may touch from now on.
  void declare();
  std::vector<declared_range> declared_ranges() const;
  [[noreturn]] void refuse_operation(const std::string& why) const;
  // All operations of the task use what the task uses.
  void note_accesses();
  void end(bool good);
};

}  // namespace starling::stf
