#include "starling/stf/run_once.hpp"

#include "starling/base/error.hpp"
#include "starling/stf/task_error.hpp"
#include "stf/context_state.hpp"

namespace starling::stf::detail {
namespace {

data_state& expect_data(const std::shared_ptr<data_state>& d) {
  expect<argument_error>(d != nullptr,
                         "context::run_once: logical data that is none; make it with context::logical_data");
  return *d;
}

}  // namespace

std::pair<const void*, std::uint64_t> number_of(const std::shared_ptr<data_state>& d) {
  return {expect_data(d).context.get(), d->body.id};
}

// What tasks have added is part of the value before it is combined, which makes another version.
std::uint64_t version_of(const std::shared_ptr<data_state>& d) {
  const std::lock_guard lock(expect_data(d));
  return (d->body.version << 8) + d->body.sum().partials.size();
}

void memo_turn::enter(std::chrono::duration<double> patience) {
  std::unique_lock lock(mutex_);
  expect<argument_error>(owner_ != std::this_thread::get_id(),
                         "context::run_once: the function asks for its own result, with the same arguments; it would "
                         "wait for itself");
  expect<task_error>(
      free_.wait_for(lock, patience, [this] { return owner_ == std::thread::id(); }),
      "context::run_once: another thread has been making this result for ", patience.count(),
      " s (STARLING_DEADLINE); a function must not take that long, nor ask for results that wait for its "
      "own");
  owner_ = std::this_thread::get_id();
}

void memo_turn::leave() {
  {
    const std::lock_guard lock(mutex_);
    owner_ = std::thread::id();
  }
  free_.notify_one();
}

std::shared_ptr<void> memo_store::table(std::type_index function, const std::function<std::shared_ptr<void>()>& make) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<void>& found = tables_[function];
  if (!found) found = make();
  return found;
}

std::chrono::duration<double> patience_of(context_state& context) { return context.coherence().patience(); }

void expect_not_recorded(context_state& context) {
  expect<argument_error>(context.scope() == nullptr,
                         "context::run_once: there is no result yet, and the tasks that make it would become part of "
                         "what is recorded; call it before record or repeat");
}

}  // namespace starling::stf::detail
