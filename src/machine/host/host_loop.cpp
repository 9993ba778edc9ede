#include "host_loop.hpp"

#include <algorithm>
#include <mutex>

#include "starling/base/error.hpp"

namespace starling::host {

class host_loop::runner {
 public:
  runner(std::shared_ptr<host_backend> device, std::shared_ptr<recording> work, const loop_condition& c)
      : device_(std::move(device)), work_(std::move(work)), condition_(c) {
    if (device_->deferred()) return;
    body_ = std::make_unique<host_graph>(device_, work_);
    stream_ = std::make_shared<host_stream>(device_, work_->lanes.front().pe);
  }

  void run() {
    if (!body_) {
      for (std::uint64_t i = 0; i < condition_.most; ++i) {
        run_in_order();
        if (!goes_on()) return;
      }
      return;
    }
    const std::lock_guard one_launch_at_a_time(mutex_);
    for (std::uint64_t i = 0; i < condition_.most; ++i) {
      body_->launch(*stream_);
      stream_->synchronize();
      if (!goes_on()) return;
    }
  }

  const recording& work() const { return *work_; }

  check::host_ranges touched() const {
    check::host_ranges all;
    for (const recording::lane& l : work_->lanes)
      for (const recording::step& s : l.steps)
        if (const auto* w = std::get_if<recording::work>(&s))
          all.insert(all.end(), w->touched.begin(), w->touched.end());
    return all;
  }

 private:
  void run_in_order() {
    for (const recording::place& p : work_->in_order) {
      const recording::step& s = work_->lanes[p.lane].steps[p.step];
      if (const auto* w = std::get_if<recording::work>(&s))
        w->run();
      else if (const auto* a = std::get_if<recording::await_point>(&s))
        a->what->wait();
    }
  }

  bool goes_on() const {
    if (condition_.flag == nullptr) return true;
    const auto* bytes = static_cast<const unsigned char*>(condition_.flag);
    return std::any_of(bytes, bytes + condition_.flag_bytes, [](unsigned char b) { return b != 0; });
  }

  std::shared_ptr<host_backend> device_;
  std::shared_ptr<recording> work_;
  loop_condition condition_;
  std::mutex mutex_;
  std::shared_ptr<host_stream> stream_;
  std::unique_ptr<host_graph> body_;  // null in check mode
};

host_loop::host_loop(std::shared_ptr<host_backend> device, std::shared_ptr<recording> work, const loop_condition& c) {
  if (c.flag != nullptr) device->check_bytes("graph::loop (flag)", c.flag, c.flag_bytes);
  runner_ = std::make_shared<runner>(std::move(device), std::move(work), c);
}

void host_loop::launch(stream_backend& s) {
  auto& origin = static_cast<host_stream&>(s);
  expect<argument_error>(!origin.recorder, "graph::launch inside a recording; launch it after");
  origin.push([r = runner_] { r->run(); }, false, runner_->touched());
}

std::size_t host_loop::operations() const { return runner_->work().operations(); }

}  // namespace starling::host
