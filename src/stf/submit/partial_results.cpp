// Reductions of tasks: each has an instance of its own; these are combined with the value in the order of submission
// before the data is used otherwise.
#include <algorithm>

#include "starling/stf/detail/task_reduction.hpp"
#include "stf/memory/coherence.hpp"
#include "stf/memory/data_registry.hpp"
#include "stf/recordings/scope_entry.hpp"

namespace starling::stf {
namespace {

// More wait for nobody to look at the data before they are combined, so that memory does not fill with them.
constexpr std::size_t most_partials = 16;

}  // namespace

memory_block coherence::new_partial(data_body& d, const data_place& place,
                                    const std::shared_ptr<const task_reduction>& reduces, bool starts_over,
                                    sync_point_list& before) {
  if (!starts_over && !d.sum().partials.empty() &&
      (!d.sum().reduces->same(*reduces) || d.sum().partials.size() >= most_partials))
    combine(d);
  const bool comes_with_launch = d.in_scope() != nullptr && d.in_scope()->had_value;
  expect<argument_error>(starts_over || comes_with_launch || d.has_value(), "stf: ", d.describe(),
                         " is reduced into, but nothing has been written to it; make its first access write(), or "
                         "reduce(op, do_init())");
  try {
    return allocate(d.describe(), d.what.bytes, place, before);
  } catch (const memory_error&) {
    // Its own partial results may be what fills the place.
    if (d.sum().partials.empty() || d.secret) throw;
  }
  combine(d, true);
  return allocate(d.describe(), d.what.bytes, place, before);
}

void coherence::add(data_body& d, partial_result a, const std::shared_ptr<const task_reduction>& reduces,
                    bool starts_over, bool good) {
  if (starts_over) drop_partials(d);
  pending_sum& sum = d.rare.change().sum;
  sum.partials.push_back(std::move(a));
  sum.reduces = reduces;
  sum.starts_over = sum.starts_over || starts_over;
  if (!good) drop_partials(d);
}

void coherence::drop_partials(data_body& d) {
  if (d.sum().partials.empty()) return;
  pending_sum& sum = d.rare.change().sum;
  for (partial_result& a : sum.partials) {
    if (d.secret) wipe(a.block.start, a.block.bytes, a.place, a.ready);
    give_back(a.block, a.place, a.ready);
  }
  sum = {};
}

void coherence::combine(data_body& d, bool on_host) {
  // Where the value lies, or else the first partial result, on a device, which reaches all memory but the user's.
  data_place place = data_place::host();
  const auto prefer = [&](const data_place& p) {
    if (!on_host && place.is_host() && !p.is_host() && !p.is_composite()) place = p;
  };
  pending_sum& sum = d.rare.change().sum;
  if (!sum.starts_over)
    for (const data_instance* i : d.instances)
      if (i->valid && i->packed) prefer(i->place);
  for (const partial_result& a : sum.partials) prefer(a.place);
  // Acquiring must not come back here.
  std::vector<partial_result> partials = std::exchange(sum.partials, {});
  try {
    try {
      combine_at(d, place, partials, sum.starts_over);
    } catch (const memory_error&) {
      if (place.is_host() || d.secret) throw;
      combine_at(d, data_place::host(), partials, sum.starts_over);
    }
  } catch (...) {
    sum.partials = std::move(partials);
    throw;
  }
  sum.partials = std::move(partials);
  drop_partials(d);
}

// Afterwards the partial results are over when they have been read.
void coherence::combine_at(data_body& d, const data_place& place, std::vector<partial_result>& partials,
                           bool starts_over) {
  sync_point_list before;
  data_instance& into = acquire(d, place, !starts_over, true, before);
  // The host reaches its own memory only.
  std::vector<memory_block> fetched;
  std::vector<const std::byte*> values;
  for (partial_result& a : partials) {
    values.push_back(a.block.start);
    if (!place.is_host() || pe_of(a.place) == host_place) {
      before.add(a.ready);
      continue;
    }
    sync_point_list free = a.ready;
    fetched.push_back(allocate(d.describe(), d.what.bytes, place, free));
    stream_slot& slot = streams_.for_copy(a.place.pe(), host_place);
    streams_.order(slot, free);
    slot.stream().copy(fetched.back().start, a.block.start, d.what.bytes);
    const sync_point end = slot.record();
    a.ready.add(end);
    before.add(end);
    values.back() = fetched.back().start;
    copies_.fetch_add(1, std::memory_order_relaxed);
    copied_bytes_.fetch_add(d.what.bytes, std::memory_order_relaxed);
  }
  stream_slot& slot = streams_.take(worked_on_by(place), before);
  streams_.order(slot, before);
  const scoped_stream by_the_library(slot.stream(), nullptr);
  d.sum().reduces->combine(slot.stream(), place.is_host(), into.start, values, d.what.bytes, !starts_over);
  sync_point_list end;
  end.add(slot.record());
  slot.leave();
  for (partial_result& a : partials) a.ready.add(end);
  for (const memory_block& b : fetched) {
    sync_point_list uses = end;
    if (d.secret) wipe(b.start, b.bytes, place, uses);
    give_back(b, place, uses);
  }
  release(d, into, true, end);
}

// Of data that nobody holds; on the host, since the place is full.
bool coherence::release_partials(const data_place& place) {
  if (place.is_host() || held_ != nullptr) return false;
  bool any = false;
  for (auto& d : all_.alive()) {
    if (!d->try_lock()) continue;
    const std::lock_guard held(*d, std::adopt_lock);
    data_body& body = d->body;
    const auto here = [&](const partial_result& a) { return a.place == place; };
    if (body.secret || std::none_of(body.sum().partials.begin(), body.sum().partials.end(), here)) continue;
    combine(body, true);
    any = true;
  }
  return any;
}

}  // namespace starling::stf
