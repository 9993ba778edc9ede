#include "cg/host/host_controlled.hpp"

#include <algorithm>
#include <thread>

#include "cg/iterate/reduction.hpp"
#include "starling/base/error.hpp"

namespace starling::cg {
namespace {

// Events of each PE. A kernel waits for a point at most as many points back as a preconditioner has steps; a PE may be
// issued ahead of another by half of what is left.
constexpr std::uint64_t points_kept = 64;
constexpr std::uint64_t points_ahead = 24;

constexpr index_t iterations_of_graph = 16;
constexpr index_t least_ahead = 32;
constexpr index_t most_ahead = 256;
constexpr index_t most_ahead_fixed = 1024;

// Iterations of a graph: between two replacements of the residual fits a whole number of graphs, if that can be.
index_t graph_length(index_t replace_every) {
  for (index_t n = std::min<index_t>(replace_every, 64); n >= 8; --n)
    if (replace_every % n == 0) return n;
  return iterations_of_graph;
}

}  // namespace

template <class T>
host_controlled<T>::host_controlled(machine& m, const system_data<T>& s, std::vector<stream>& streams,
                                    const solve_options& o, const host_launch& launch)
    : machine_(m), streams_(streams), options_(o), launch_(launch), progress_(streams.size()), issued_(streams.size()) {
  arguments_.s = s;
  state_on_pes_ = machine_.template allocate<host_state>(2);
  parts_ = machine_.template allocate<double>(index_t{2} * machine_.size() * launch_.blocks * sum_words);
  arguments_.state = state_on_pes_.data();
  arguments_.parts = parts_.data();
  if (o.who == control::graph) graph_iterations_ = graph_length(o.how == method::pipelined ? o.replace_every : 0);
  many_threads_ = o.who == control::streams && streams_.size() > 1;
  forked_.push_back(machine_.new_event(0));
  for (int pe = 0; pe < machine_.size(); ++pe) {
    progress_[static_cast<std::size_t>(pe)].waits.resize(streams_.size());
    joined_.push_back(machine_.new_event(pe));
    points_.emplace_back();
    for (std::uint64_t i = 0; i < points_kept && machine_.size() > 1; ++i)
      points_.back().push_back(machine_.new_event(pe));
  }
}

template <class T>
host_controlled<T>::~host_controlled() {
  for (stream& s : streams_) {
    try {
      s.synchronize();
    } catch (...) {
      // Only after a failure that has been thrown already.
    }
  }
}

template <class T>
iteration_state host_controlled<T>::advance(const goal& g, index_t first_iteration, bool begin) {
  if (begin) now_.st = {};
  now_.g = g;
  now_.first_iteration = first_iteration;
  now_.what = begin ? action::replace : action::step;
  store_state();
  start_clock();
  do {
    issue_some();
    synchronize();
    read_state();
  } while (now_.what != action::leave);
  stop_clock();
  return now_.st;
}

// To the slot that the next kernel reads.
template <class T>
void host_controlled<T>::store_state() {
  for (int pe = 0; pe < machine_.size(); ++pe) machine_.copy(state_on_pes_.on(pe) + slots_.states, &now_, sizeof now_);
}

template <class T>
void host_controlled<T>::read_state() {
  machine_.copy(&now_, state_on_pes_.on(0) + slots_.states, sizeof now_);
}

// So many that checking costs little, and so few that little is done in vain when they have ended.
template <class T>
index_t host_controlled<T>::iterations_ahead() const {
  if (now_.g.fixed) return most_ahead_fixed;
  const index_t ahead = std::clamp(now_.st.iteration / 8, least_ahead, most_ahead);
  return graph_iterations_ > 0 ? round_up(ahead, graph_iterations_) : ahead;
}

// The kernels of a stretch. Where the residual is to be replaced, or the goal reached, is known before if nothing
// unforeseen happens; if it does, all that follows does nothing until the residual has been computed from x.
template <class T>
void host_controlled<T>::issue_some() {
  iteration_state& st = now_.st;
  index_t left = iterations_ahead();
  if (now_.what != action::step) {
    issue(st.replacements == 0 ? kind::begin : kind::restart);
    st.since_replacement = 0;
  }
  while (left > 0) {
    const index_t every = now_.g.replace_every;
    index_t n = std::min(left, now_.g.last_iteration - st.iteration);
    const bool replaces = every > 0 && n >= every - st.since_replacement;
    if (replaces) n = std::max<index_t>(every - st.since_replacement, 0);
    issue_iterations(n);
    st.iteration += n;
    st.since_replacement += n;
    left -= n;
    const bool ends = st.iteration >= now_.g.last_iteration;
    if (ends || replaces) issue(kind::check);
    if (ends) break;
    if (!replaces) continue;
    issue(kind::restart);
    st.since_replacement = 0;
  }
  flush();
}

template <class T>
auto host_controlled<T>::planned(kind what) -> const sequence& {
  const auto [at, made] = sequences_.try_emplace({what, slots_.all()});
  sequence& s = at->second;
  if (!made) return s;
  const system_data<T>& data = arguments_.s;
  step_planner plan(options_.how, data.m, data.degree, data.lowest, data.highest, slots_);
  if (what == kind::iteration)
    plan.iteration();
  else if (what == kind::check)
    plan.check();
  else
    plan.start(what == kind::restart);
  for (const planned_step& p : plan.steps()) {
    arguments_.step = p.step;
    s.steps.push_back({p, host_step_kernel(arguments_, options_.how)});
  }
  s.end = plan.slots();
  return s;
}

template <class T>
void host_controlled<T>::issue(kind what) {
  const sequence& s = planned(what);
  slots_ = s.end;
  pending_.push_back(&s);
}

template <class T>
void host_controlled<T>::issue_iterations(index_t n) {
  for (; graph_iterations_ > 0 && n >= graph_iterations_; n -= graph_iterations_) launch_graph();
  for (; n > 0; --n) issue(kind::iteration);
}

template <class T>
void host_controlled<T>::launch_graph() {
  flush();
  const slot_numbers before = slots_;
  auto at = graphs_.find(before.all());
  if (at == graphs_.end()) {
    synchronize();
    stop_clock();
    at = graphs_.emplace(before.all(), record_iterations()).first;
    start_clock();
  }
  slots_ = before;
  for (index_t i = 0; i < graph_iterations_; ++i) slots_ = planned(kind::iteration).end;
  if (apart_) join();
  at->second.launch(streams_[0]);
  after_graph_ = true;
}

// All streams are done with what came before, as in each launch.
template <class T>
graph host_controlled<T>::record_iterations() {
  const auto forget_points = [&] {
    for (progress_of_pe& p : progress_) p.waits.assign(streams_.size(), p.point);
  };
  forget_points();
  graph g = machine_.record(streams_[0], [&] {
    fork();
    for (index_t i = 0; i < graph_iterations_; ++i) issue(kind::iteration);
    flush();
    join();
  });
  forget_points();
  return g;
}

// ---- order ----

// The other streams go on after stream 0.
template <class T>
void host_controlled<T>::fork() {
  after_graph_ = false;
  if (streams_.size() == 1) return;
  streams_[0].record(forked_[0]);
  for (std::size_t pe = 1; pe < streams_.size(); ++pe) streams_[pe].wait(forked_[0]);
}

// Stream 0 goes on after the others.
template <class T>
void host_controlled<T>::join() {
  apart_ = false;
  for (std::size_t pe = 1; pe < streams_.size(); ++pe) {
    streams_[pe].record(joined_[pe]);
    streams_[0].wait(joined_[pe]);
  }
  for (progress_of_pe& p : progress_) p.waits.assign(streams_.size(), p.point);
}

template <class T>
void host_controlled<T>::synchronize() {
  for (stream& s : streams_) s.synchronize();
  after_graph_ = false;
  apart_ = false;
}

template <class T>
void host_controlled<T>::flush() {
  if (pending_.empty()) return;
  if (after_graph_) fork();
  apart_ = true;
  if (many_threads_) {
    std::vector<std::thread> threads;
    for (std::size_t pe = 1; pe < streams_.size(); ++pe)
      threads.emplace_back([this, pe] { flush_for(static_cast<int>(pe)); });
    flush_for(0);
    for (std::thread& t : threads) t.join();
    if (failure_) std::rethrow_exception(failure_);
  } else {
    for (const sequence* s : pending_)
      for (const ready_step& step : s->steps)
        for (int pe = 0; pe < machine_.size(); ++pe) issue_step(pe, step);
  }
  pending_.clear();
}

template <class T>
void host_controlled<T>::flush_for(int pe) {
  try {
    for (const sequence* s : pending_)
      for (const ready_step& step : s->steps) {
        if (failed_) return;
        issue_step(pe, step);
      }
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
    failed_ = true;
  }
}

template <class T>
void host_controlled<T>::issue_step(int pe, const ready_step& s) {
  const auto i = static_cast<std::size_t>(pe);
  progress_of_pe& p = progress_[i];
  if (s.plan.needs_values)
    for (const int other : launch_.neighbours[i]) wait_for(pe, other, p.published);
  if (s.plan.needs_sums)
    for (int other = 0; other < machine_.size(); ++other)
      if (other != pe) wait_for(pe, other, p.posted);
  streams_[i].launch_kernel(launch_.blocks, s.k, launch_.options);
  if (machine_.size() == 1 || !s.plan.sends()) return;
  ++p.point;
  // Those who are to wait for the event's point before this one have been told so.
  if (p.point > points_ahead)
    for (int other = 0; other < machine_.size(); ++other) await_issue(other, p.point - points_ahead);
  streams_[i].record(points_[i][p.point % points_kept]);
  if (s.plan.publishes) p.published = p.point;
  if (s.plan.posts) p.posted = p.point;
  issued_[i].store(p.point);
}

template <class T>
void host_controlled<T>::wait_for(int pe, int other, std::uint64_t point) {
  const auto i = static_cast<std::size_t>(pe);
  const auto from = static_cast<std::size_t>(other);
  std::uint64_t& before = progress_[i].waits[from];
  if (before >= point) return;
  await_issue(other, point);
  streams_[i].wait(points_[from][point % points_kept]);
  before = point;
}

// Returns when the work of `pe` has been issued up to a point.
template <class T>
void host_controlled<T>::await_issue(int pe, std::uint64_t point) const {
  if (!many_threads_) return;
  while (issued_[static_cast<std::size_t>(pe)].load() < point && !failed_) std::this_thread::yield();
}

template <class T>
void host_controlled<T>::stop_clock() {
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - clock_).count();
}

template class host_controlled<float>;
template class host_controlled<double>;

}  // namespace starling::cg
