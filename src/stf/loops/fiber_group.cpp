#include "starling/stf/detail/fiber_group.hpp"

#include <deque>
#include <exception>
#include <vector>

#include "machine/check/fiber.hpp"
#include "starling/base/error.hpp"

namespace starling::stf {
namespace {

// Unwinds a member after another one has failed. Not a std::exception: bodies that catch those do not swallow it.
struct group_ended {};

}  // namespace

class fiber_group::state {
 public:
  explicit state(index_t members) : members_(static_cast<std::size_t>(members)) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      member& m = members_[i];
      m.of = this;
      m.number = static_cast<index_t>(i);
      m.stack = std::make_unique<check::fiber>(&state::live, &m);
    }
  }

  index_t size() const { return static_cast<index_t>(members_.size()); }

  void run(void (*call)(const void*, index_t), const void* context) {
    call_ = call;
    context_ = context;
    failure_ = nullptr;
    ready_.clear();
    for (member& m : members_) {
      m.now = condition::ready;
      ready_.push_back(m.number);
    }
    leave_to_next(home_);
    // Nobody is ready. Those who still wait do so for members that have ended.
    for (member& m : members_)
      if (m.now == condition::waiting) {
        if (!failure_) failure_ = std::make_exception_ptr(argument_error(never_came(m)));
        running_ = m.number;
        check::fiber::switch_to(home_, *m.stack);
      }
    if (failure_) std::rethrow_exception(failure_);
  }

  void sync(index_t first, index_t count, where at) {
    member& me = members_[static_cast<std::size_t>(running_)];
    if (failure_) throw group_ended{};
    if (count <= 1) return;
    me.first = first;
    me.count = count;
    me.at = at;
    me.now = condition::waiting;
    if (all_wait(first, count))
      for (index_t i = first; i < first + count; ++i) {
        members_[static_cast<std::size_t>(i)].now = condition::ready;
        ready_.push_back(i);
      }
    leave_to_next(*me.stack);
    if (failure_) throw group_ended{};
  }

 private:
  enum class condition { ready, waiting, ended };
  struct member {
    state* of = nullptr;
    index_t number = 0;
    condition now = condition::ended;
    index_t first = 0;  // of the group that it waits for
    index_t count = 0;
    where at{};
    std::unique_ptr<check::fiber> stack;
  };

  // The body of every fiber, again for each run.
  static void live(void* argument) {
    auto& me = *static_cast<member*>(argument);
    while (true) {
      me.of->run_one(me);
      me.of->leave_to_next(*me.stack);
    }
  }

  void run_one(member& me) {
    try {
      if (!failure_) call_(context_, me.number);
    } catch (const group_ended&) {
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
    me.now = condition::ended;
  }

  // Lets the next member that is ready go on; when none is, the caller of run().
  void leave_to_next(check::fiber& here) {
    if (ready_.empty()) {
      if (&here != &home_) check::fiber::switch_to(here, home_);
      return;
    }
    const index_t next = ready_.front();
    ready_.pop_front();
    check::fiber& there = *members_[static_cast<std::size_t>(next)].stack;
    running_ = next;
    if (&there != &here) check::fiber::switch_to(here, there);
  }

  bool all_wait(index_t first, index_t count) const {
    for (index_t i = first; i < first + count; ++i) {
      const member& m = members_[static_cast<std::size_t>(i)];
      if (m.now != condition::waiting || m.first != first || m.count != count) return false;
    }
    return true;
  }

  std::string never_came(const member& m) const {
    index_t absent = 0;
    for (index_t i = m.first; i < m.first + m.count; ++i) {
      const member& other = members_[static_cast<std::size_t>(i)];
      absent += other.now == condition::waiting && other.first == m.first && other.count == m.count ? 0 : 1;
    }
    return message("launch: thread ", m.number, " waits in sync at ", m.at.file, ":", m.at.line, " for its group of ",
                   m.count, " threads, of which ", absent,
                   " have returned or wait elsewhere; all threads of a group make the same calls of sync");
  }

  std::vector<member> members_;
  check::fiber home_;
  std::deque<index_t> ready_;
  index_t running_ = 0;
  void (*call_)(const void*, index_t) = nullptr;
  const void* context_ = nullptr;
  std::exception_ptr failure_;
};

fiber_group::fiber_group(index_t members) : state_(std::make_unique<state>(members)) {}
fiber_group::~fiber_group() = default;

void fiber_group::run(void (*call)(const void*, index_t), const void* context) { state_->run(call, context); }
void fiber_group::sync(index_t first, index_t count, where at) { state_->sync(first, count, at); }

}  // namespace starling::stf
