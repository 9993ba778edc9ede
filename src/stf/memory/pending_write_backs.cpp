#include "pending_write_backs.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "coherence.hpp"
#include "starling/base/error.hpp"
#include "starling/stf/task_error.hpp"

namespace starling::stf {

void pending_write_backs::add(data_body body) {
  const std::lock_guard lock(mutex_);
  bodies_.push_back(std::move(body));
  any_ = true;
}

std::vector<data_body> pending_write_backs::take(const std::function<bool(data_body&)>& which) {
  std::vector<data_body> taken;
  const std::lock_guard lock(mutex_);
  const auto first = std::partition(bodies_.begin(), bodies_.end(), [&](data_body& b) { return !which(b); });
  std::move(first, bodies_.end(), std::back_inserter(taken));
  bodies_.erase(first, bodies_.end());
  any_ = !bodies_.empty();
  return taken;
}

bool pending_write_backs::write_back(const std::function<bool(const data_body&)>& may_go) {
  const std::lock_guard turn(turn_);
  if (writing_) return false;
  std::vector<data_body> all = take(may_go);
  writing_ = true;
  std::exception_ptr failure;
  for (data_body& body : all) {
    try {
      coherence_.write_back(body);
      coherence_.drop(body);
    } catch (...) {
      if (!failure) failure = std::current_exception();
      add(std::move(body));
    }
  }
  writing_ = false;
  if (failure) std::rethrow_exception(failure);
  return !all.empty();
}

void pending_write_backs::drop(const std::function<bool(data_body&)>& which) {
  for (data_body& body : take(which)) coherence_.drop(body);
}

void pending_write_backs::note_lost(const data_body& body) {
  if (body.failed_by().empty() || !body.owed_to_user()) return;
  const std::lock_guard lock(mutex_);
  if (lost_.empty())
    lost_ = message("stf: ", body.describe(), " was not written back before its last handle went: task '",
                    body.failed_by(), "' threw instead of writing it");
}

void pending_write_backs::expect_none_lost() const {
  const std::lock_guard lock(mutex_);
  expect<task_error>(lost_.empty(), lost_);
}

}  // namespace starling::stf
