#include "host_loop.hpp"

#include <algorithm>
#include <mutex>

#include "starling/base/error.hpp"

namespace starling::host {

class host_loop::runner {
 public:
  runner(const std::shared_ptr<host_backend>& device, const std::shared_ptr<recording>& work, const loop_condition& c)
      : condition_(c), body_(device, work), stream_(std::make_shared<host_stream>(device, work->lanes.front().pe)) {}

  void run() {
    const std::lock_guard one_launch_at_a_time(mutex_);
    for (std::uint64_t i = 0; i < condition_.most; ++i) {
      body_.launch(*stream_);
      stream_->synchronize();
      if (!goes_on()) return;
    }
  }

  const host_graph& body() const { return body_; }

 private:
  bool goes_on() const {
    if (condition_.flag == nullptr) return true;
    const auto* bytes = static_cast<const unsigned char*>(condition_.flag);
    return std::any_of(bytes, bytes + condition_.flag_bytes, [](unsigned char b) { return b != 0; });
  }

  loop_condition condition_;
  std::mutex mutex_;
  host_graph body_;
  std::shared_ptr<host_stream> stream_;
};

host_loop::host_loop(const std::shared_ptr<host_backend>& device, const std::shared_ptr<recording>& work,
                     const loop_condition& c)
    : runner_(std::make_shared<runner>(device, work, c)) {}

void host_loop::launch(stream_backend& s) {
  auto& origin = static_cast<host_stream&>(s);
  expect<argument_error>(!origin.recorder, "graph::launch inside a recording; launch it after");
  origin.push([r = runner_] { r->run(); });
}

std::size_t host_loop::operations() const { return runner_->body().operations(); }

}  // namespace starling::host
