#include "promised_values.hpp"

#include "scope_entry.hpp"
#include "task_scope.hpp"

namespace starling::stf {

void promised_values::promise(const task_scope& tasks) {
  for (const auto& e : tasks.entries()) {
    data_body& d = e->data->body;
    value_before& before = values_.emplace_back();
    before.data = e->data;
    before.promised = std::exchange(d.promised, true);
    before.failed_by = d.failed_by();
    for (data_instance* i : d.instances) before.valid.emplace_back(i, i->valid);
    before.written = e->written;
    if (!e->written) continue;
    std::swap(before.pending, d.rare.change().sum);
    d.set_failed_by("");
    for (data_instance* i : d.instances) i->valid = false;
    for (data_instance* i : e->valid_after) i->valid = true;
  }
}

void promised_values::undo_to(std::size_t count) noexcept {
  for (; values_.size() > count; values_.pop_back()) {
    value_before& before = values_.back();
    data_body& d = before.data->body;
    for (data_instance* i : d.instances) i->valid = false;
    for (const auto& [i, valid] : before.valid) i->valid = valid;
    d.set_failed_by(std::move(before.failed_by));
    d.promised = before.promised;
    if (before.written) std::swap(before.pending, d.rare.change().sum);
  }
}

}  // namespace starling::stf
