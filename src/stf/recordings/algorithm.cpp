#include "starling/stf/algorithm.hpp"

#include <algorithm>
#include <list>
#include <mutex>
#include <optional>

#include "starling/base/error.hpp"

namespace starling::stf {

struct algorithm::kept {
  struct recorded {
    detail::algorithm_use use;
    graph work;
    event over;  // the newest launch: another one at the same time would use the graph's own memory
  };

  std::mutex mutex;
  std::optional<std::type_index> body;
  std::list<recorded> graphs;  // the one used last comes first
};

namespace {

constexpr std::size_t most_graphs = 16;

std::string title(const std::string& name) { return name.empty() ? "an algorithm" : "algorithm '" + name + "'"; }

}  // namespace

algorithm::algorithm(const context& ctx, std::string name)
    : ctx_(ctx), name_(std::move(name)), kept_(std::make_shared<kept>()) {}

void algorithm::expect_use(const exec_place& where, std::type_index body) {
  expect<argument_error>(!where.is_host() && !where.is_grid(), "stf: ", title(name_), " on ", describe(where),
                         "; it runs on one device: name it, or leave the choice to exec_place::automatic()");
  const std::lock_guard lock(kept_->mutex);
  if (!kept_->body) kept_->body = body;
  expect<argument_error>(*kept_->body == body, "stf: ", title(name_),
                         " was run with another body before, whose graphs it keeps; make an algorithm for each");
}

void algorithm::do_tasks(stream& s, detail::algorithm_use use, const std::function<void(const stream&)>& tasks) {
  if (s.keep_with_recording(nullptr)) return tasks(s);
  machine m = ctx_.on();
  const auto launch = [&](kept::recorded& r) {
    r.work.launch(s);
    s.record(r.over);
  };
  auto& all = kept_->graphs;
  {
    const std::lock_guard lock(kept_->mutex);
    const auto mine = std::find_if(all.begin(), all.end(), [&](const kept::recorded& r) { return r.use.same(use); });
    if (mine != all.end()) {
      s.wait(mine->over);
      all.splice(all.begin(), all, mine);
      return launch(*mine);
    }
  }
  // In a stream of its own, since others may give the task's work meanwhile; without the lock, since the body may run
  // this or other algorithms.
  stream origin = m.new_stream(s.pe());
  graph work = m.record(origin, [&] { tasks(origin); });
  const std::lock_guard lock(kept_->mutex);
  all.push_front({std::move(use), std::move(work), m.new_event(s.pe(), event_use::ordering)});
  launch(all.front());
  if (all.size() > most_graphs) all.pop_back();
}

std::size_t algorithm::graphs() const {
  const std::lock_guard lock(kept_->mutex);
  return kept_->graphs.size();
}

}  // namespace starling::stf
