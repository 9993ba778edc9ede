#include "starling/stf/dynamic_task.hpp"

#include <cxxabi.h>

#include <cstdlib>

#include "starling/base/error.hpp"
#include "starling/stf/context.hpp"
#include "task_run_state.hpp"

namespace starling::stf {
namespace {

std::string readable(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : type.name();
}

// All that `earlier` has comes before what `later` is given from now on.
void order(const machine& on, starling::stream& earlier, starling::stream& later) {
  machine m = on;
  event e = m.new_event(earlier.pe(), event_use::ordering);
  earlier.record(e);
  later.wait(e);
}

}  // namespace

dynamic_task::dynamic_task(const context& c, exec_place where) : context_(std::make_shared<context>(c)) {
  what_.place = std::move(where);
}

dynamic_task& dynamic_task::set_symbol(std::string name) & {
  expect_not_begun("set_symbol");
  what_.name = std::move(name);
  return *this;
}

dynamic_task& dynamic_task::set_priority(int priority) & {
  expect_not_begun("set_priority");
  what_.priority = priority;
  return *this;
}

dynamic_task::open_task::open_task(stf::task_run r) : run(std::move(r)), thread(std::this_thread::get_id()) {}

dynamic_task::open_task::~open_task() {
  try {
    take_from_user();
  } catch (...) {
    // The task fails anyway.
  }
}

void dynamic_task::open_task::take_from_user() {
  if (user) order(run.on(), *user, run.stream());
  user.reset();
}

void dynamic_task::begin() {
  expect_not_begun("begin");
  what_.accesses.clear();
  for (const auto& d : deps_) what_.accesses.push_back(d->access());
  open_ = std::make_unique<open_task>(stf::task_run(context_->state(), what_));
  begun_ = true;
}

void dynamic_task::begin(const starling::stream& user) {
  expect_not_begun("begin");
  const exec_place& where = what_.place;
  const std::vector<int> pes =
      where.is_host() || where.is_automatic() ? std::vector<int>() : where.devices(context_->on().size());
  expect<argument_error>(pes.size() == 1, "stf: ", describe_task(what_.name), " on ", describe(where),
                         " cannot begin in one stream of the user; name one device, or begin it without");
  expect<range_error>(pes.front() == user.pe(), "stf: ", describe_task(what_.name), " on device ", pes.front(),
                      " cannot begin in a stream of device ", user.pe(), "; pass a stream of its device");
  begin();
  open_->user = user;
  order(open_->run.on(), open_->run.stream(), *open_->user);
}

starling::stream& dynamic_task::stream(int place) const {
  open_task& t = expect_open();
  return t.user && place == 0 ? *t.user : t.run.stream(place);
}

void dynamic_task::end() {
  open_task& t = expect_own_thread("end");
  t.take_from_user();
  t.run.finish();
  open_.reset();
}

void dynamic_task::fail() {
  (void)expect_own_thread("fail");
  open_.reset();
}

std::byte* dynamic_task::memory(std::size_t which, int place) const { return run().memory(which, place); }

const stf::task_run& dynamic_task::run() const { return expect_open().run; }

dynamic_task::open_task& dynamic_task::expect_open() const {
  expect<argument_error>(open_ != nullptr, "stf: ", describe_task(what_.name), " is used ",
                         begun_ ? "after its end" : "before it was begun",
                         "; streams and views are there between begin() and end(), and in the body");
  return *open_;
}

void dynamic_task::expect_not_begun(const char* call) const {
  expect<argument_error>(!begun_, "stf: ", call, " of ", describe_task(what_.name),
                         ", which was begun already; make another one with context::task()");
}

dynamic_task::open_task& dynamic_task::expect_own_thread(const char* call) const {
  open_task& t = expect_open();
  expect<argument_error>(t.thread == std::this_thread::get_id(), "stf: ", call, " of ", describe_task(what_.name),
                         " on another thread than it was begun; the thread that began it holds its data");
  return t;
}

const detail::any_dependency& dynamic_task::dependency(std::size_t which) const {
  (void)run().memory(which);
  return *deps_[which];
}

void dynamic_task::refuse_view(std::size_t which, const std::type_info& wanted) const {
  throw argument_error(message("stf: dependency ", which, " of ", describe_task(what_.name), " gives ",
                               readable(deps_[which]->given()), ", and was asked for as ", readable(wanted)));
}

}  // namespace starling::stf
