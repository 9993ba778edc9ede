#include "host_graph.hpp"

#include <algorithm>

#include "deferred.hpp"
#include "host_loop.hpp"
#include "starling/base/error.hpp"

namespace starling::host {

recording::lane& recording::join(host_stream& s) {
  for (lane& l : lanes)
    if (l.recorded_on.get() == &s) return l;
  lanes.push_back({s.shared_from_this(), s.pe(), {}});
  return lanes.back();
}

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

void recording::await(host_stream& s, std::shared_ptr<event_record> p) {
  join(s).steps.emplace_back(await_point{std::move(p)});
}

std::size_t recording::operations() const {
  std::size_t n = 0;
  for (const lane& l : lanes)
    for (const step& s : l.steps) n += std::holds_alternative<work>(s) ? 1 : 0;
  return n;
}

namespace {

bool same_kind(const recording::step& a, const recording::step& b) {
  if (a.index() != b.index()) return false;
  if (const auto* w = std::get_if<recording::work>(&a)) return w->kind == std::get<recording::work>(b).kind;
  if (const auto* m = std::get_if<recording::mark_slot>(&a)) return m->slot == std::get<recording::mark_slot>(b).slot;
  if (const auto* w = std::get_if<recording::await_slot>(&a)) return w->slot == std::get<recording::await_slot>(b).slot;
  return true;
}

}  // namespace

bool recording::same_shape(const recording& other) const {
  return std::equal(
      lanes.begin(), lanes.end(), other.lanes.begin(), other.lanes.end(), [](const lane& a, const lane& b) {
        return a.pe == b.pe && std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same_kind);
      });
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

host_graph::host_graph(std::shared_ptr<recording> work) : host_graph(work->lanes.front().recorded_on->device(), work) {
  let_go();
}

host_graph::host_graph(std::shared_ptr<host_backend> device, std::shared_ptr<recording> work)
    : device_(std::move(device)), work_(std::move(work)), helpers_(helpers_for(device_, *work_)) {}

std::shared_ptr<graph_backend> host_graph::loop(const loop_condition& c) const {
  if (c.flag != nullptr) device_->check_bytes("graph::loop (flag)", c.flag, c.flag_bytes);
  // Schedules are explored launch by launch: there whoever wants a loop launches again.
  if (device_->deferred()) return nullptr;
  return std::make_shared<host_loop>(device_, work_, c);
}

bool host_graph::become(std::shared_ptr<recording> work) {
  const std::shared_ptr<host_backend> device = work->lanes.front().recorded_on->device();
  const bool same = device == device_ && work->same_shape(*work_);
  if (!same) helpers_ = helpers_for(device, *work);
  device_ = device;
  work_ = std::move(work);
  let_go();
  return same;
}

std::vector<std::shared_ptr<host_stream>> host_graph::helpers_for(const std::shared_ptr<host_backend>& device,
                                                                  const recording& work) {
  std::vector<std::shared_ptr<host_stream>> helpers;
  for (std::size_t i = 1; i < work.lanes.size(); ++i)
    helpers.push_back(std::make_shared<host_stream>(device, work.lanes[i].pe));
  return helpers;
}

void host_graph::let_go() {
  for (recording::lane& l : work_->lanes) l.recorded_on.reset();
}

void host_graph::launch(stream_backend& s) {
  auto& origin = static_cast<host_stream&>(s);
  expect<argument_error>(!origin.recorder, "graph::launch inside a recording; launch it after");
  // A stream may wait for what another one is given later.
  const auto all = device_->deferred() ? device_->deferred()->giving() : deferred_work::hold();
  std::vector<std::shared_ptr<event_record>> records(work_->slots);
  for (auto& p : records) p = std::make_shared<event_record>();
  const auto start = std::make_shared<event_record>();
  origin.push([start] { start->complete(); }, true);
  for (std::size_t i = 0; i < work_->lanes.size(); ++i) {
    host_stream& to = i == 0 ? origin : *helpers_[i - 1];
    if (i > 0) to.push([start] { start->wait(); }, true);
    for (const recording::step& step : work_->lanes[i].steps) {
      if (const auto* m = std::get_if<recording::mark_slot>(&step))
        to.push([p = records[m->slot]] { p->complete(); }, true);
      else if (const auto* a = std::get_if<recording::await_slot>(&step))
        to.push([p = records[a->slot]] { p->wait(); }, true);
      else if (const auto* w = std::get_if<recording::await_point>(&step))
        to.push([p = w->what] { p->wait(); });
      else
        to.push(std::get<recording::work>(step).run, std::get<recording::work>(step).always,
                std::get<recording::work>(step).touched);
    }
  }
  // Before the joins below, which let this launch end.
  if (!work_->kept.empty()) origin.push([kept = work_->kept] {}, true);
  // What failed on a helper fails on the launching stream. The helper may have the next launch queued already.
  for (const auto& h : helpers_) {
    const auto end = std::make_shared<event_record>();
    h->push([end] { end->complete(); }, true);
    origin.push(
        [end, helper = h] {
          end->wait();
          helper->rethrow_failure();
        },
        true);
  }
}

namespace {

class host_recording final : public recording_backend {
 public:
  explicit host_recording(host_stream& origin) : work_(std::make_shared<recording>(origin)) { origin.recorder = work_; }
  ~host_recording() override {
    if (work_) work_->close(false);
  }

  std::shared_ptr<graph_backend> finish() override { return std::make_shared<host_graph>(take()); }
  bool finish_into(std::shared_ptr<graph_backend>& g) override {
    std::shared_ptr<recording> work = take();
    if (auto* there = dynamic_cast<host_graph*>(g.get())) return there->become(std::move(work));
    g = std::make_shared<host_graph>(std::move(work));
    return false;
  }

 private:
  std::shared_ptr<recording> take() {
    auto work = std::move(work_);
    work->close(true);
    return work;
  }

  std::shared_ptr<recording> work_;
};

}  // namespace

std::unique_ptr<recording_backend> start_host_recording(host_stream& origin) {
  expect<argument_error>(!origin.recorder, "machine::record: this stream is being recorded already");
  return std::make_unique<host_recording>(origin);
}

}  // namespace starling::host
