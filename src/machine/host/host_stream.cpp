#include "host_stream.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "../activity_span.hpp"
#include "../far_memory.hpp"
#include "../launch_rules.hpp"
#include "../program_control.hpp"
#include "copy_queue.hpp"
#include "deferred.hpp"
#include "host_call.hpp"
#include "host_graph.hpp"
#include "running.hpp"
#include "starling/base/error.hpp"
#include "together.hpp"

namespace starling::host {
namespace {

// The words by which blocks of one launch meet, on one PE.
class meeting_words {
 public:
  meeting_words(host_backend& device, int pe) : words_(device.launch_heap(), 1) {
    std::memset(device.launch_heap().on(words_.offset(), pe), 0, words_.bytes());
  }
  control_words get() const {
    control_words c;
    c.arrived = words_.words().arrived;
    return c;
  }

 private:
  program_control words_;
};

// Blocks of a plain launch run one after the other, as they need not be resident together; resident ones have a thread
// each.
void run_launch(host_backend& device, int pe, int blocks, const program& p) {
  if (check::schedule::running() != nullptr) return device.checker()->launch(pe, blocks, p);
  run_group group{device.heap(), device.launch_heap(), device.local(), device.lot(), device.moved()};
  group.faults = device.faults();
  group.network = device.network();
  if (group.faults) group.faults->begin_run();
  std::optional<meeting_words> words;
  if (p.options.resident) words.emplace(device, pe);
  running r(group, p, words ? words->get() : control_words{}, device.n_pes(), blocks,
            deadline_of(p.options, device.default_deadline()));
  if (p.options.resident) {
    const std::string problem = run_together({&r}, {pe, pe + 1});
    expect<device_error>(problem.empty(), "stream::launch: ", problem);
  } else {
    for (int b = 0; b < blocks; ++b) r.run_block(pe, b);
  }
  r.rethrow({pe, pe + 1});
}

// Whoever waits for data that was not made waits no more.
void raise_missing(host_backend& device, const launch_copies& copies) {
  if (check::schedule::running() != nullptr) return;  // a kernel that fails ends the schedule
  for (signal* w = copies.words; w != copies.words + copies.n_words; ++w) {
    std::uint64_t none = 0;
    if (std::atomic_ref(w->value).compare_exchange_strong(none, triggered_copies::over)) device.lot().wake(&w->value);
  }
}

std::size_t extent(std::size_t pitch, std::size_t row_bytes, std::size_t rows) {
  return rows == 0 ? 0 : (rows - 1) * pitch + row_bytes;
}

}  // namespace

host_stream::host_stream(std::shared_ptr<host_backend> device, int pe)
    : device_(std::move(device)), deferred_(device_->deferred()), pe_(pe), number_(device_->new_stream_number()) {
  if (deferred_)
    deferred_->add(*this);
  else
    worker_ = std::thread([this] { work(); });
}

host_stream::~host_stream() {
  if (deferred_) {
    try {
      deferred_->drain();
    } catch (...) {
      // As on other devices, who never waits for a stream does not learn of its failures.
    }
    deferred_->remove(*this);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  worker_.join();
}

void host_stream::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    entry next = std::move(queue_.front());
    queue_.pop_front();
    const bool left_out = failure_ && !next.always;
    busy_ = true;
    lock.unlock();
    std::exception_ptr problem;
    try {
      if (!left_out) next.run();
    } catch (...) {
      problem = std::current_exception();
    }
    next.run = nullptr;  // what it holds may call the stream when it goes
    lock.lock();
    if (problem && !failure_) failure_ = problem;
    busy_ = false;
    changed_.notify_all();
  }
}

check::checker::stream_work host_stream::take_operations() {
  const std::lock_guard lock(mutex_);
  check::checker::stream_work all{pe_, {}, {}};
  for (entry& e : queue_) {
    all.operations.push_back(std::move(e.run));
    all.touched.insert(all.touched.end(), e.touched.begin(), e.touched.end());
  }
  queue_.clear();
  return all;
}

bool host_stream::has_operations() {
  const std::lock_guard lock(mutex_);
  return !queue_.empty();
}

void host_stream::push(operation op, bool always, check::host_ranges touched, std::shared_ptr<event_record> completes) {
  const auto giving = deferred_ ? deferred_->giving(std::move(completes)) : deferred_work::hold();
  const std::lock_guard lock(mutex_);
  queue_.push_back({std::move(op), always, std::move(touched)});
  changed_.notify_all();
}

void host_stream::begin_scope(std::shared_ptr<const access_scope> scope) {
  if (!deferred_) return;
  const std::lock_guard lock(mutex_);
  scopes_.push_back({std::this_thread::get_id(), scope.get(), scope});
}

void host_stream::end_scope(const access_scope* scope) noexcept {
  if (!deferred_) return;
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(scopes_.rbegin(), scopes_.rend(), [&](const said& s) { return s.what == scope; });
  if (found != scopes_.rend()) scopes_.erase(std::next(found).base());
}

host_stream::operation host_stream::scoped(operation op) {
  if (!deferred_) return op;
  const std::lock_guard lock(mutex_);
  const auto mine =
      std::find_if(scopes_.rbegin(), scopes_.rend(), [](const said& s) { return s.by == std::this_thread::get_id(); });
  if (mine == scopes_.rend() || !mine->scope) return op;
  if (auto names = device_->checker()->names().now(); names != mine->scope->names())
    mine->scope = std::make_shared<const access_scope>(mine->scope->as_named(std::move(names)));
  return [scope = mine->scope, op = std::move(op)] { check::schedule::running()->within(scope.get(), op); };
}

void host_stream::submit(step_kind kind, operation op, check::host_ranges touched, bool always) {
  op = scoped(std::move(op));
  if (recorder)
    recorder->add(*this, {kind, std::move(op), std::move(touched), always});
  else
    push(std::move(op), always, std::move(touched));
}

check::host_ranges host_stream::beside(const void* start, std::size_t bytes) const {
  if (!deferred_ || bytes == 0 || device_->owns(start)) return {};
  return {{static_cast<std::byte*>(const_cast<void*>(start)), bytes}};
}

host_stream::operation host_stream::traced(const host_activity& a, operation op) {
  if (deferred_ || !device_->trace()) return op;  // schedules of check mode are no runs
  // A graph may run it after this stream is gone; its machine lives.
  return [device = device_.get(), a = on_stream(a, pe_, number_), op = std::move(op)] {
    const activity_span span(*device, a);
    op();
  };
}

void host_stream::launch(int blocks, const kernel& k, const launch_options& options) {
  (void)device_->blocks_that_fit(k, options);
  if (options.resident) device_->check_resident("stream::launch", blocks);
  if (deferred_) deferred_->expect_launch(blocks, options.resident);
  role_plan roles;
  roles.add("all", blocks);
  host_activity a;
  a.kind = host_activity::what::launch;
  a.blocks = static_cast<std::uint64_t>(blocks);
  submit(step_kind::launch, traced(a, [device = device_.get(), pe = pe_, blocks, p = program{roles, k, options}] {
           run_launch(*device, pe, blocks, p);
         }));
}

// The copies are a launch in a stream beside this one, which begins when the kernel may.
void host_stream::launch_with(int blocks, const kernel& k, const launch_options& options,
                              const std::shared_ptr<const launch_copies>& copies) {
  if (!beside_) beside_ = std::make_shared<host_stream>(device_, pe_);
  fill(copies->words, 0, copies->n_words * sizeof(signal));
  const auto begun = std::make_shared<host_event>();
  record(*begun);
  launch(blocks, k, options);
  submit(step_kind::fill, [device = device_.get(), copies] { raise_missing(*device, *copies); }, {}, true);
  beside_->wait(*begun);
  beside_->launch_copies_beside(copies);
  const auto sent = std::make_shared<host_event>();
  beside_->record(*sent);
  // Also when the kernel has failed: nothing is under way any more when this stream is done. A graph sees to that, and
  // to what fails beside, by itself.
  if (recorder) return wait(*sent);
  push(
      [beside = beside_.get(), end = sent->newest()] {
        end->wait();
        beside->rethrow_failure();
      },
      true);
}

void host_stream::launch_copies_beside(const std::shared_ptr<const launch_copies>& copies) {
  const auto queues = static_cast<int>(copies->queues.size());
  if (deferred_) deferred_->expect_launch(queues, false);
  submit(step_kind::launch, [device = device_.get(), pe = pe_, queues, p = copy_queues(*copies), copies] {
    run_launch(*device, pe, queues, p);
  });
}

void host_stream::copy_rows(void* dest, std::size_t dest_pitch, const void* source, std::size_t source_pitch,
                            std::size_t row_bytes, std::size_t rows) {
  device_->check_bytes("stream::copy (dest)", dest, extent(dest_pitch, row_bytes, rows));
  device_->check_bytes("stream::copy (source)", source, extent(source_pitch, row_bytes, rows));
  auto* to = static_cast<std::byte*>(dest);
  const auto* from = static_cast<const std::byte*>(source);
  check::host_ranges touched = beside(dest, extent(dest_pitch, row_bytes, rows));
  for (const check::host_range& r : beside(source, extent(source_pitch, row_bytes, rows))) touched.push_back(r);
  submit(step_kind::copy,
         traced(copy_activity(*device_, dest, source, rows * row_bytes),
                [=, device = device_.get()] {
                  if (check::schedule* s = check::schedule::running())
                    return s->copy_rows(to, dest_pitch, from, source_pitch, row_bytes, rows);
                  device->copy_rows({to, dest_pitch, from, source_pitch, row_bytes, rows});
                }),
         touched);
}

void host_stream::fill(void* dest, unsigned char byte, std::size_t bytes) {
  device_->check_bytes("stream::fill", dest, bytes);
  submit(step_kind::fill,
         traced(fill_activity(*device_, dest, bytes),
                [=, device = device_.get()] {
                  if (bytes == 0) return;
                  if (check::schedule* s = check::schedule::running())
                    return s->fill(static_cast<std::byte*>(dest), byte, bytes);
                  device->fill_bytes(static_cast<std::byte*>(dest), byte, bytes);
                }),
         beside(dest, bytes));
}

void host_stream::call(std::function<void()> f) {
  host_activity a;
  a.kind = host_activity::what::call;
  submit(step_kind::call, traced(a, [f = std::make_shared<const std::function<void()>>(std::move(f))] {
           if (check::schedule* s = check::schedule::running()) return s->call_host([&f] { run_host_call(*f); });
           run_host_call(*f);
         }));
}

void host_stream::record(event_backend& e) {
  auto& mine = static_cast<host_event&>(e);
  if (recorder) {
    recorder->mark(*this, mine);
    return;
  }
  const auto record = std::make_shared<event_record>(deferred_);
  mine.set_newest(record);
  push([record] { record->complete(); }, true, {}, record);
}

void host_stream::wait(const event_backend& e) {
  const auto& theirs = static_cast<const host_event&>(e);
  if (theirs.recorded_in) {
    theirs.recorded_in->await(*this, theirs);
    return;
  }
  const auto awaited = theirs.newest();
  if (!awaited) return;
  if (recorder)
    recorder->await(*this, awaited);
  else
    push([awaited] { awaited->wait(); });
}

bool host_stream::keep_with_recording(std::shared_ptr<void> what) {
  if (!recorder) return false;
  if (what) recorder->kept.push_back(std::move(what));
  return true;
}

void host_stream::synchronize() {
  expect_outside_of_host_call("stream::synchronize");
  expect<argument_error>(!recorder,
                         "stream::synchronize inside a recording; record work only, and synchronize after "
                         "the graph was launched");
  if (deferred_) return deferred_->drain();
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
  }
  if (const auto trace = device_->trace()) trace->flush();
  rethrow_failure();
}

void host_stream::rethrow_failure() {
  std::unique_lock lock(mutex_);
  const std::exception_ptr problem = std::exchange(failure_, nullptr);
  lock.unlock();
  if (problem) std::rethrow_exception(problem);
}

}  // namespace starling::host
