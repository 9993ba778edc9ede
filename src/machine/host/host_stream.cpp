#include "host_stream.hpp"

#include <cstring>

#include "../activity_span.hpp"
#include "../launch_rules.hpp"
#include "deferred.hpp"
#include "host_graph.hpp"
#include "running.hpp"
#include "starling/base/error.hpp"

namespace starling::host {
namespace {

// Blocks of a plain launch run one after the other: they need not be resident together.
void run_launch(host_backend& device, int pe, int blocks, const program& p) {
  if (check::schedule::running() != nullptr) return device.checker()->launch(pe, blocks, p);
  run_group group{device.heap(), device.control_heap(), device.lot()};
  group.faults = device.faults();
  if (group.faults) group.faults->begin_run();
  running r(group, p, control_words{}, device.n_pes(), blocks, deadline_of(p.options, device.default_deadline()));
  for (int b = 0; b < blocks; ++b) r.run_block(pe, b);
  r.rethrow({pe, pe + 1});
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
    const entry next = std::move(queue_.front());
    queue_.pop_front();
    if (failure_ && !next.always) {
      changed_.notify_all();
      continue;
    }
    busy_ = true;
    lock.unlock();
    std::exception_ptr problem;
    try {
      next.run();
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    if (problem && !failure_) failure_ = problem;
    busy_ = false;
    changed_.notify_all();
  }
}

std::vector<host_stream::operation> host_stream::take_operations() {
  const std::lock_guard lock(mutex_);
  std::vector<operation> all;
  for (entry& e : queue_) all.push_back(std::move(e.run));
  queue_.clear();
  return all;
}

void host_stream::push(operation op, bool always) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({std::move(op), always});
  changed_.notify_all();
}

void host_stream::submit(operation op) {
  if (recorder)
    recorder->add(*this, std::move(op));
  else
    push(std::move(op));
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
  if (deferred_) deferred_->expect_launch(blocks);
  role_plan roles;
  roles.add("all", blocks);
  host_activity a;
  a.kind = host_activity::what::launch;
  a.blocks = static_cast<std::uint64_t>(blocks);
  submit(traced(a, [device = device_.get(), pe = pe_, blocks, p = program{roles, k, options}] {
    run_launch(*device, pe, blocks, p);
  }));
}

void host_stream::copy_rows(void* dest, std::size_t dest_pitch, const void* source, std::size_t source_pitch,
                            std::size_t row_bytes, std::size_t rows) {
  device_->check_bytes("stream::copy (dest)", dest, extent(dest_pitch, row_bytes, rows));
  device_->check_bytes("stream::copy (source)", source, extent(source_pitch, row_bytes, rows));
  auto* to = static_cast<std::byte*>(dest);
  const auto* from = static_cast<const std::byte*>(source);
  submit(traced(copy_activity(*device_, dest, source, rows * row_bytes), [=] {
    if (check::schedule* s = check::schedule::running())
      return s->copy_rows(to, dest_pitch, from, source_pitch, row_bytes, rows);
    for (std::size_t i = 0; i < rows && row_bytes > 0; ++i)
      std::memcpy(to + i * dest_pitch, from + i * source_pitch, row_bytes);
  }));
}

void host_stream::fill(void* dest, unsigned char byte, std::size_t bytes) {
  device_->check_bytes("stream::fill", dest, bytes);
  submit(traced(fill_activity(*device_, dest, bytes), [=] {
    if (bytes == 0) return;
    if (check::schedule* s = check::schedule::running()) return s->fill(static_cast<std::byte*>(dest), byte, bytes);
    std::memset(dest, byte, bytes);
  }));
}

void host_stream::record(event_backend& e) {
  auto& mine = static_cast<host_event&>(e);
  if (recorder) {
    recorder->mark(*this, mine);
    return;
  }
  const auto reached = std::make_shared<point>(deferred_);
  if (deferred_) deferred_->expect_point(reached);
  mine.set_newest(reached);
  push([reached] { reached->reach(); }, true);
}

void host_stream::wait(const event_backend& e) {
  const auto& theirs = static_cast<const host_event&>(e);
  if (theirs.recorded_in) {
    theirs.recorded_in->await(*this, theirs);
    return;
  }
  const auto awaited = theirs.newest();
  if (awaited) submit([awaited] { awaited->wait(); });
}

void host_stream::synchronize() {
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
