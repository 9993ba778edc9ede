#include "placement_policy.hpp"

#include <algorithm>
#include <tuple>

namespace starling::stf {
namespace {

// Copies to one device come one after the other, the earliest ready first, which is the order that ends first.
double arrival(const std::vector<placed_input>& inputs, std::size_t device, double now) {
  std::vector<const placed_input*> order;
  for (const placed_input& i : inputs) order.push_back(&i);
  std::stable_sort(order.begin(), order.end(),
                   [](const placed_input* a, const placed_input* b) { return a->ready < b->ready; });
  double copies = now;
  double there = now;
  for (const placed_input* i : order) {
    there = std::max(there, i->ready);
    if (i->transfer[device] <= 0) continue;
    copies = std::max(copies, i->ready) + i->transfer[device];
    there = std::max(there, copies);
  }
  return there;
}

double transfers(const std::vector<placed_input>& inputs, int device) {
  double all = 0;
  for (const placed_input& i : inputs) all += i.transfer[static_cast<std::size_t>(device)];
  return all;
}

}  // namespace

const char* name(placement_reason why) {
  return why == placement_reason::explores ? "explores" : why == placement_reason::ends_first ? "ends first" : "given";
}

std::size_t placement_policy::new_class(double guess) {
  classes_.push_back({guess, std::vector<on_device>(available_.size())});
  return classes_.size() - 1;
}

const placement_policy::on_device& placement_policy::usage(std::size_t c, int device) const {
  return classes_[c].on[static_cast<std::size_t>(device)];
}

// Devices that have not been measured yet are taken for as fast as the others.
double placement_policy::expected(std::size_t c, int device) const {
  const on_device& here = usage(c, device);
  if (here.samples > 0) return here.mean;
  double sum = 0;
  int known = 0;
  for (const on_device& d : classes_[c].on) {
    if (d.samples == 0) continue;
    sum += d.mean;
    ++known;
  }
  return known > 0 ? sum / known : classes_[c].guess;
}

placement placement_policy::plan(std::size_t c, int device, const std::vector<placed_input>& inputs, double now) const {
  const auto d = static_cast<std::size_t>(device);
  placement p;
  p.device = device;
  p.start = std::max(available_[d], arrival(inputs, d, now));
  p.end = p.start + expected(c, device);
  return p;
}

placement placement_policy::count(std::size_t c, placement p) {
  on_device& there = classes_[c].on[static_cast<std::size_t>(p.device)];
  ++there.chosen;
  if (p.why == placement_reason::explores) ++there.explored;
  double& available = available_[static_cast<std::size_t>(p.device)];
  available = std::max(available, p.end);
  return p;
}

placement placement_policy::choose(std::size_t c, const std::vector<placed_input>& inputs, double now) {
  // Where the data is goes first, then what is free first; the lowest number among equals.
  std::tuple<double, double, int> least_tried{};
  std::tuple<double, double, int> least{};
  bool untried = false;
  bool any = false;
  for (int d = 0; d < devices(); ++d) {
    const placement p = plan(c, d, inputs, now);
    const double moving = transfers(inputs, d);
    const std::tuple<double, double, int> by_end{p.end, moving, d};
    if (!any || by_end < least) least = by_end;
    any = true;
    if (usage(c, d).chosen >= tries) continue;
    const std::tuple<double, double, int> by_data{moving, p.start, d};
    if (!untried || by_data < least_tried) least_tried = by_data;
    untried = true;
  }
  placement p = plan(c, untried ? std::get<int>(least_tried) : std::get<int>(least), inputs, now);
  p.why = untried ? placement_reason::explores : placement_reason::ends_first;
  return count(c, p);
}

placement placement_policy::give(std::size_t c, int device, const std::vector<placed_input>& inputs, double now) {
  return count(c, plan(c, device, inputs, now));
}

bool placement_policy::wants_sample(std::size_t c, int device) const {
  const std::uint64_t chosen = usage(c, device).chosen;
  return chosen <= first_samples || chosen % sparse == 0;
}

void placement_policy::measured(std::size_t c, int device, double seconds) {
  constexpr double memory = 8;  // samples that the mean is about
  on_device& d = classes_[c].on[static_cast<std::size_t>(device)];
  ++d.samples;
  if (d.samples <= 2)
    d.mean = seconds;
  else
    d.mean += (seconds - d.mean) / std::min(memory, static_cast<double>(d.samples - 1));
}

void placement_policy::all_over() { std::fill(available_.begin(), available_.end(), 0.0); }

}  // namespace starling::stf
