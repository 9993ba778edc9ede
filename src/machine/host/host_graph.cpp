#include "host_graph.hpp"

#include "starling/base/error.hpp"

namespace starling::host {

recording::lane& recording::join(host_stream& s) {
  for (lane& l : lanes)
    if (l.recorded_on.get() == &s) return l;
  lanes.push_back({s.shared_from_this(), {}});
  return lanes.back();
}

void recording::add(host_stream& s, host_stream::operation op) { join(s).steps.emplace_back(std::move(op)); }

void recording::mark(host_stream& s, host_event& e) {
  lane& l = join(s);
  l.steps.emplace_back(mark_slot{slots});
  lane_of_slot_.push_back(static_cast<std::size_t>(&l - lanes.data()));
  e.recorded_in = shared_from_this();
  e.recorded_slot = slots++;
  events_.push_back(e.shared_from_this());
}

void recording::await(host_stream& s, const host_event& e) {
  expect<argument_error>(!s.recorder || s.recorder.get() == this,
                         "stream::wait: the event belongs to another recording; record one graph at a time");
  s.recorder = shared_from_this();
  join(s).steps.emplace_back(await_slot{e.recorded_slot});
}

void recording::close(bool check) {
  // A lane has come back when a mark at its end is awaited by a lane that has.
  std::vector<bool> back(lanes.size(), false);
  back[0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (!back[i]) continue;
      for (const step& s : lanes[i].steps) {
        const auto* a = std::get_if<await_slot>(&s);
        if (a == nullptr) continue;
        const std::size_t from = lane_of_slot_[a->slot];
        const auto* last = std::get_if<mark_slot>(&lanes[from].steps.back());
        if (!back[from] && last != nullptr && last->slot == a->slot) changed = back[from] = true;
      }
    }
  }
  for (const lane& l : lanes) l.recorded_on->recorder.reset();
  for (const auto& e : events_) e->recorded_in.reset();
  events_.clear();
  if (!check) return;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    expect<argument_error>(back[i], "machine::record: a stream of PE ", lanes[i].recorded_on->pe(),
                           " joined the recording and was not joined back; make the origin wait for an event "
                           "recorded after its last operation");
}

host_graph::host_graph(std::shared_ptr<recording> work) : work_(std::move(work)) {
  for (std::size_t i = 1; i < work_->lanes.size(); ++i) {
    const host_stream& from = *work_->lanes[i].recorded_on;
    helpers_.push_back(std::make_shared<host_stream>(from.device(), from.pe()));
  }
  for (recording::lane& l : work_->lanes) l.recorded_on.reset();
}

void host_graph::launch(stream_backend& s) {
  auto& origin = static_cast<host_stream&>(s);
  expect<argument_error>(!origin.recorder, "graph::launch inside a recording; launch it after");
  std::vector<std::shared_ptr<point>> points(work_->slots);
  for (auto& p : points) p = std::make_shared<point>();
  const auto start = std::make_shared<point>();
  origin.push([start] { start->reach(); }, true);
  for (std::size_t i = 0; i < work_->lanes.size(); ++i) {
    host_stream& to = i == 0 ? origin : *helpers_[i - 1];
    if (i > 0) to.push([start] { start->wait(); }, true);
    for (const recording::step& step : work_->lanes[i].steps) {
      if (const auto* m = std::get_if<recording::mark_slot>(&step))
        to.push([p = points[m->slot]] { p->reach(); }, true);
      else if (const auto* a = std::get_if<recording::await_slot>(&step))
        to.push([p = points[a->slot]] { p->wait(); }, true);
      else
        to.push(std::get<host_stream::operation>(step));
    }
  }
  // What failed on a helper fails on the launching stream. The helper may have the next launch queued already.
  for (const auto& h : helpers_) {
    const auto end = std::make_shared<point>();
    h->push([end] { end->reach(); }, true);
    origin.push(
        [end, helper = h] {
          end->wait();
          helper->rethrow_failure();
        },
        true);
  }
}

std::shared_ptr<graph_backend> record_graph(host_stream& origin, const std::function<void()>& work) {
  expect<argument_error>(!origin.recorder, "machine::record: this stream is being recorded already");
  const auto r = std::make_shared<recording>(origin);
  origin.recorder = r;
  try {
    work();
  } catch (...) {
    r->close(false);
    throw;
  }
  r->close(true);
  return std::make_shared<host_graph>(r);
}

}  // namespace starling::host
