#include "scheduler.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "starling/machine/local_memory.hpp"

namespace starling::stf {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Before anything is measured: what memory allows.
double guess_of(const machine& m, std::size_t bytes) {
  const double bytes_per_second = m.kind() == machine_kind::host ? 2e9 : 1e12;
  return 5e-6 + static_cast<double>(bytes) / bytes_per_second;
}

// "f(int)::<lambda(...)>" of the text that a compiler has for a function template's instance.
std::string body_text(body_kind kind) {
  if (kind == nullptr) return "without a name";
  const std::string all = kind();
  const std::size_t start = all.find("Body = ");
  if (start == std::string::npos) return all;
  const std::string rest = all.substr(start + 7);
  return rest.substr(0, rest.find_last_of(']'));
}

}  // namespace

scheduler::scheduler(const machine& m)
    : machine_(m), measures_(!m.checking()), tasks_(m), copies_(m), policy_(m.size()), links_(m) {}

std::size_t scheduler::class_of(const task_description& what, const std::vector<scheduled_access>& uses) {
  std::size_t bytes = 0;
  for (const scheduled_access& u : uses) bytes += u.data->what.bytes;
  // A name says more than the type of the body.
  class_key key{what.name, what.name.empty() ? reinterpret_cast<std::uintptr_t>(what.kind) : 0,
                static_cast<int>(std::bit_width(bytes))};
  auto known = classes_.find(key);
  if (known == classes_.end() && classes_.size() >= most_classes) {
    key.name = "all others";
    key.kind = 0;
    known = classes_.find(key);
  }
  if (known != classes_.end()) return known->second;
  return classes_.emplace(key, policy_.new_class(guess_of(machine_, bytes))).first->second;
}

placed_input scheduler::input(const data_body& d, bool follows, double now) const {
  placed_input i;
  i.ready = d.rare->expected.round == round_ ? d.rare->expected.at : now;
  i.transfer.assign(static_cast<std::size_t>(machine_.size()), 0.0);
  if (!follows) return i;
  for (int to = 0; to < machine_.size(); ++to) {
    double best = -1;
    for (const data_instance* from : d.instances) {
      if (!from->valid) continue;
      // An instance of the user's own that tasks cannot have is copied on the spot.
      const bool there = from->packed && from->place == data_place::device(to);
      const double cost = there ? 0 : std::max(links_.seconds(pe_of(from->place), to, d.what.bytes), 1e-9);
      if (best < 0 || cost < best) best = cost;
    }
    i.transfer[static_cast<std::size_t>(to)] = std::max(best, 0.0);
  }
  return i;
}

void scheduler::collect() {
  tasks_.collect([this](const measured_task& t, double seconds) { policy_.measured(t.task_class, t.device, seconds); });
  copies_.collect([this](const measured_copy& c, double seconds) { links_.measured(c.from, c.to, c.bytes, seconds); });
}

scheduler::decision scheduler::decide(const task_description& what, std::optional<int> device,
                                      const std::vector<scheduled_access>& uses) {
  const double now = measures_ ? now_seconds() : 0;
  const std::lock_guard lock(mutex_);
  if (measures_) collect();
  decision d;
  d.task_class = class_of(what, uses);
  std::vector<placed_input> inputs;
  for (const scheduled_access& u : uses)
    if (u.reads && u.data->what.bytes > 0) inputs.push_back(input(*u.data, u.follows, now));
  d.where = device ? policy_.give(d.task_class, *device, inputs, now) : policy_.choose(d.task_class, inputs, now);
  d.measure = measures_ && policy_.wants_sample(d.task_class, d.where.device);
  for (const scheduled_access& u : uses)
    if (u.writes) u.data->rare.change().expected = {d.where.end, round_};
  return d;
}

scheduler::decision scheduler::choose(const task_description& what, const std::vector<scheduled_access>& uses) {
  active_.store(true, std::memory_order_relaxed);
  return decide(what, std::nullopt, uses);
}

scheduler::decision scheduler::note(const task_description& what, int device,
                                    const std::vector<scheduled_access>& uses) {
  return decide(what, device, uses);
}

std::optional<event> scheduler::begin_copy(stream& s, int from, int to, std::size_t bytes) {
  if (!active() || !measures_) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    if (!links_.wants_sample(from, to, bytes)) return std::nullopt;
  }
  return copies_.begin(s);
}

void scheduler::all_over() {
  if (!active()) return;
  const std::lock_guard lock(mutex_);
  if (measures_) collect();
  policy_.all_over();
  ++round_;
}

std::vector<task_class_usage> scheduler::classes() {
  const std::lock_guard lock(mutex_);
  std::vector<task_class_usage> all(classes_.size());
  for (const auto& [key, number] : classes_) {
    task_class_usage& c = all[number];
    c.name = key.name.empty() ? body_text(reinterpret_cast<body_kind>(key.kind)) : key.name;
    c.most_bytes = key.size == 0 ? 0 : (std::size_t{1} << (key.size - 1)) * 2 - 1;
    for (int pe = 0; pe < machine_.size(); ++pe) {
      const placement_policy::on_device& d = policy_.usage(number, pe);
      c.devices.push_back({pe, d.chosen, d.explored, d.samples, d.mean});
    }
  }
  return all;
}

}  // namespace starling::stf
