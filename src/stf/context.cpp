#include "starling/stf/context.hpp"

#include <map>
#include <mutex>

#include "context_state.hpp"
#include "starling/stf/fnv1a.hpp"
#include "stf/memory/splitting.hpp"

namespace starling::stf {

void detail::set_name(const std::shared_ptr<data_state>& d, std::string name) {
  expect<argument_error>(d != nullptr, "stf: '", name,
                         "' cannot be the name of logical data that is none; make it with context::logical_data");
  const std::lock_guard lock(*d);
  d->body.rare.change().name = std::move(name);
  d->context->coherence().name_instances(d->body);
}

void detail::set_secret(const std::shared_ptr<data_state>& d) {
  expect<argument_error>(d != nullptr,
                         "stf: set_secret of logical data that is none; make it with context::logical_data");
  const std::lock_guard lock(*d);
  expect<argument_error>(d->body.holds().empty(), "stf: set_secret of ", d->body.describe(), ", which ",
                         d->body.holds().empty() ? "" : d->body.holds().front()->why,
                         "; call it when the data is made, before others have it");
  d->body.secret = true;
  for (data_instance* i : d->body.instances) i->secret = true;
}

void detail::set_write_back(const std::shared_ptr<data_state>& d, bool on) {
  expect<argument_error>(d != nullptr,
                         "stf: set_write_back of logical data that is none; make it with "
                         "context::logical_data");
  const std::lock_guard lock(*d);
  expect<argument_error>(d->body.in_users_memory(), "stf: set_write_back of ", d->body.describe(),
                         ", which has no memory of the user that a value could go back to; leave it out");
  d->body.writes_back = on;
}

void detail::refuse_elements(index_t elements, std::size_t bytes_each) {
  throw argument_error(message("stf: logical data of ", elements, " elements of ", bytes_each,
                               " bytes; all of it may have up to 2^63 - 1 bytes"));
}

void detail::refuse_launch_on_host() {
  throw argument_error(
      "context::launch on the host: thread hierarchies run on devices; use host_launch or parallel_for");
}

void detail::refuse_reduction(index_t elements) {
  throw argument_error(message("stf: a reduction into ", elements, " elements; its logical data has one"));
}

std::string detail::name_of(data_state& d) {
  const std::lock_guard lock(d);
  return d.body.name();
}

struct context::kept_data {
  struct kept_token {
    stf::token token;
    std::uint64_t version;
  };
  std::mutex mutex;
  std::map<const void*, kept_token> tokens;
  std::shared_ptr<detail::memo_store> results = std::make_shared<detail::memo_store>();
};

context::context(machine m, const context_options& options)
    : state_(std::make_shared<context_state>(std::move(m), options)), kept_(std::make_shared<kept_data>()) {}

context::context(machine m, const context_options& options, const stream& user)
    : state_(std::make_shared<context_state>(std::move(m), options, user)), kept_(std::make_shared<kept_data>()) {}

stf::token context::token_of(const void* what, std::uint64_t version, const std::string& name) {
  stf::token t;
  {
    const std::lock_guard lock(kept_->mutex);
    const auto [found, fresh] = kept_->tokens.try_emplace(what, kept_data::kept_token{{}, version});
    if (fresh) found->second.token = token().set_symbol(name);
    t = found->second.token;
    if (std::exchange(found->second.version, version) == version) return t;
  }
  // A task that writes it makes good what others have failed to write.
  task(t.write())->*[](stream&) {};
  return t;
}

std::shared_ptr<detail::memo_store> context::kept_results() const { return kept_->results; }

std::shared_ptr<data_state> context::new_data(data_description what, call_site at) {
  what.made_at = at;
  return state_->new_data(std::move(what));
}

std::byte* context::wait_for(const std::shared_ptr<data_state>& d) {
  expect<argument_error>(d && d->context == state_, "context::wait: data of another context, or none");
  return state_->wait_for(*d);
}

std::uint64_t context::hash_of(const std::shared_ptr<data_state>& d) {
  expect<argument_error>(d && d->context == state_, "context::hash: data of another context, or none");
  return fnv1a(state_->wait_for(*d), d->body.what.bytes);
}

void context::bring(const std::shared_ptr<data_state>& d, const data_place& where) {
  expect<argument_error>(d && d->context == state_, "context::prefetch: data of another context, or none");
  const auto to = [&](const data_place& p) {
    state_->bring("prefetch", *d, access_mode::read, p, [](data_instance&, sync_point_list&) {});
  };
  if (!where.is_replicated()) return to(where);
  for (int pe = 0; pe < on().size(); ++pe) to(data_place::device(pe));
}

recorded_tasks context::record(const std::function<void()>& body) { return recorded_tasks(state_->record(body)); }
void context::repeat(std::uint64_t n, const std::function<void()>& body) { state_->repeat(n, body); }
void context::repeat_while(const std::shared_ptr<data_state>& flag, const std::function<void()>& body,
                           std::uint64_t most) {
  state_->repeat_while(flag, body, most);
}

void context::run_if(const std::shared_ptr<data_state>& flag, const std::function<void()>& body,
                     const std::function<void()>& otherwise) {
  state_->run_if(flag, body, otherwise);
}

std::shared_ptr<const detail::per_stream_things> context::made_per_stream(
    int priority, const std::function<std::shared_ptr<void>(stream&)>& make) {
  return state_->make_per_stream(priority, make);
}

void context::join(const detail::split_handle& parts) {
  expect<argument_error>(parts.state()->context() == state_, "context::join: parts of data of another context");
  state_->require_outside_scopes("join");
  const auto inside = state_->submit("join");
  parts.state()->join(true);
}

void context::fence() { state_->fence(); }
event context::fence_event() { return state_->fence_event(); }
void context::synchronize() { state_->synchronize(); }
void context::finalize() { state_->finalize(); }

const machine& context::on() const { return state_->on(); }

std::vector<exec_place> context::places(const exec_place& of) const {
  if (of.is_host()) return {of};
  std::vector<exec_place> all;
  for (const int pe : of.devices(on().size())) all.push_back(exec_place::device(pe));
  return all;
}

stf::statistics context::statistics() const { return state_->statistics(); }
std::string context::explain() const { return stf::explain(statistics()); }

namespace {

const task_graph& drawing_of(context_state& state) {
  expect<argument_error>(state.drawing() != nullptr,
                         "context: no drawing was asked for; make the context with context_options{.drawing = true}");
  return *state.drawing();
}

}  // namespace

std::string context::dot() const { return drawing_of(*state_).dot(); }
std::string context::mermaid() const { return drawing_of(*state_).mermaid(); }

}  // namespace starling::stf
