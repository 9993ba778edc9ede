#include "backend_policy.hpp"

#include <algorithm>

namespace starling::stf {

backend_policy::entry& backend_policy::of(std::uint64_t signature) {
  const auto known = entries_.find(signature);
  if (known != entries_.end()) return known->second;
  if (entries_.size() >= most_signatures)
    entries_.erase(std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
      return a.second.last_seen < b.second.last_seen;
    }));
  entry& fresh = entries_[signature];
  fresh.number = ++seen_;
  return fresh;
}

const backend_policy::entry* backend_policy::expected() const {
  if (!any_) return nullptr;
  const auto last = entries_.find(last_);
  if (last == entries_.end() || !last->second.followed) return nullptr;
  const auto next = entries_.find(last->second.followed_by);
  return next == entries_.end() ? nullptr : &next->second;
}

bool backend_policy::settled(const entry& e) {
  return !e.refused.empty() ||
         (e.on_streams.timed >= tries && e.as_graph.timed >= tries && e.on_streams.known() && e.as_graph.known());
}

backend_kind backend_policy::choice(const entry& e) {
  if (!e.refused.empty() || e.on_streams.timed < tries) return backend_kind::stream;
  if (e.as_graph.timed < tries) return backend_kind::graph;
  // Times may still be on their way.
  if (!settled(e)) return backend_kind::stream;
  return e.as_graph.best < e.on_streams.best ? backend_kind::graph : backend_kind::stream;
}

backend_kind backend_policy::next() const {
  const entry* e = expected();
  return e == nullptr ? backend_kind::stream : choice(*e);
}

bool backend_policy::wants_time() const {
  const entry* e = expected();
  return e == nullptr || !settled(*e);
}

void backend_policy::ended(std::uint64_t signature, std::uint64_t tasks, backend_kind used, bool timed) {
  entry& e = of(signature);
  e.tasks = tasks;
  e.last_seen = ++seen_;
  times& t = used == backend_kind::graph ? e.as_graph : e.on_streams;
  ++t.epochs;
  if (timed) ++t.timed;
  if (any_) {
    const auto before = entries_.find(last_);
    if (before != entries_.end()) {
      before->second.followed_by = signature;
      before->second.followed = true;
    }
  }
  last_ = signature;
  any_ = true;
}

void backend_policy::measured(std::uint64_t signature, backend_kind used, double seconds) {
  const auto known = entries_.find(signature);
  if (known == entries_.end()) return;
  times& t = used == backend_kind::graph ? known->second.as_graph : known->second.on_streams;
  ++t.samples;
  if (t.samples == 2)
    t.best = seconds;
  else if (t.samples > 2)
    t.best = std::min(t.best, seconds);
}

void backend_policy::refuse(const std::string& why) {
  if (expected() != nullptr) entries_.at(entries_.at(last_).followed_by).refused = why;
}

void backend_policy::refuse(std::uint64_t signature, const std::string& why) { of(signature).refused = why; }

std::vector<epoch_class_usage> backend_policy::choices() const {
  std::vector<std::pair<std::uint64_t, epoch_class_usage>> all;
  for (const auto& [signature, e] : entries_) {
    epoch_class_usage u;
    u.tasks = e.tasks;
    u.on_streams = {e.on_streams.epochs, e.on_streams.samples, e.on_streams.best};
    u.as_graph = {e.as_graph.epochs, e.as_graph.samples, e.as_graph.best};
    u.settled = settled(e);
    u.chosen = choice(e);
    u.refused = e.refused;
    all.emplace_back(e.number, std::move(u));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<epoch_class_usage> sorted;
  for (auto& [number, u] : all) sorted.push_back(std::move(u));
  return sorted;
}

}  // namespace starling::stf
