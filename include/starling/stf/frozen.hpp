// frozen_logical_data: logical data that is used outside of tasks for a while, in streams of the user. Made by
// context::freeze: the instance holds the value and stays where it is until unfreeze, or until the handle is destroyed.
//
//   auto f = ctx.freeze(x.read(data_place::device(1)));
//   library_call(f.get(s), s);          // s waits for the value, not the host
//   f.unfreeze(s);                      // later tasks that write x wait for what s has
//
// freeze(x.read(data_place::replicated())) is a copy on each device, of which get(s) gives that of the stream's.
//
// While data is frozen for reading, tasks may read it. A task that writes it, or that uses data frozen otherwise, is an
// argument_error. One thread at a time may use a handle.
#pragma once

#include <memory>
#include <utility>

#include "starling/machine/stream.hpp"
#include "starling/stf/access.hpp"
#include "starling/stf/logical_data.hpp"

namespace starling::stf {

class context_state;

// Without the type of the data.
class frozen_instance {
 public:
  frozen_instance(std::shared_ptr<context_state> context, const data_access& access);
  frozen_instance(frozen_instance&&) noexcept;
  frozen_instance& operator=(frozen_instance&&) noexcept;
  // Ends what was not: later tasks wait for what the streams have that it was shown to.
  ~frozen_instance();

  // Where it begins. Later work of `user` starts when the value is there. A graph context starts the graph of its
  // tasks, so it is not to be called within the body of a task then.
  std::byte* get(stream& user);
  // Later tasks that need to wait for everything that `user` has so far. Every other call is an argument_error then.
  void unfreeze(stream& user);

 private:
  struct state;
  state& open(const char* call) const;
  std::unique_ptr<state> state_;
};

template <class View, class Given>
class frozen_logical_data {
 public:
  using shape_type = typename data_interface<View>::shape_type;

  frozen_logical_data(std::shared_ptr<context_state> context, dependency<View, Given> use)
      : use_(std::move(use)), instance_(std::move(context), use_.access) {}

  Given get(stream& user) { return use_.view(instance_.get(user)); }
  void unfreeze(stream& user) { instance_.unfreeze(user); }

  const shape_type& shape() const { return use_.shape; }

 private:
  dependency<View, Given> use_;
  frozen_instance instance_;
};

}  // namespace starling::stf
