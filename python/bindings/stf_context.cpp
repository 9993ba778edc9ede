#include "stf_context.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "starling/base/error.hpp"

namespace nb = nanobind;

namespace starling::python {
namespace {

stf::access_mode mode_named(const std::string& text) {
  for (const stf::access_mode mode : {stf::access_mode::read, stf::access_mode::write, stf::access_mode::rw})
    if (text == stf::name(mode)) return mode;
  throw argument_error(message("mode = '", text, "'; must be 'read', 'write' or 'rw'"));
}

stf::data_access access_of(const bound_access& access) {
  const auto& [data, mode, place, parts, number, last_use] = access;
  expect<argument_error>(data != nullptr, "stf: an access has no data");
  stf::data_access a{data->state(), mode_named(mode), place};
  if (parts) a.ghosts = (*parts)->ghosts(number);
  a.last_use = last_use;
  return a;
}

stf::task_description describe(const stf::exec_place& where, const std::vector<bound_access>& accesses,
                               const std::string& name, int priority) {
  stf::task_description what{where, {}, name, nullptr, priority};
  for (const bound_access& access : accesses) what.accesses.push_back(access_of(access));
  return what;
}

}  // namespace

std::size_t array_shape::bytes() const {
  return std::accumulate(extents.begin(), extents.end(), element_bytes,
                         [](std::size_t all, index_t n) { return all * static_cast<std::size_t>(n); });
}

bound_data::~bound_data() {
  if (!state_) return;
  const nb::gil_scoped_release unlocked;
  state_.reset();
}

void bound_data::set_name(const std::string& name) {
  const nb::gil_scoped_release unlocked;
  stf::detail::set_name(state_, name);
}

bound_memory::bound_memory(const stf::context& c) {
  if (c.on().kind() == machine_kind::host)
    machine_ = c.on();
  else
    context_ = c;
}

bound_memory::~bound_memory() {
  const nb::gil_scoped_release unlocked;
  context_.reset();
  machine_.reset();
}

bound_parts::bound_parts(const stf::context& c, const bound_data& whole, const std::vector<index_t>& shape,
                         std::size_t element_bytes, const std::vector<index_t>& counts, const stf::halo& around,
                         const stf::data_place& where)
    : context_(c) {
  expect<argument_error>(counts.size() == shape.size(), "stf: ", counts.size(), " counts of parts for data of ",
                         shape.size(), " dimensions");
  stf::detail::check_halo(around);
  stf::detail::split_plan plan{shape, element_bytes, 1, {{}}, around};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    stf::detail::check_count(counts[d]);
    std::vector<std::vector<index_range>> finer;
    for (const auto& before : plan.parts)
      for (index_t i = 0; i < counts[d]; ++i) {
        finer.push_back(before);
        finer.back().push_back(share(shape[d], static_cast<int>(counts[d]), static_cast<int>(i)));
      }
    plan.parts = std::move(finer);
  }
  const nb::gil_scoped_release unlocked;
  parts_ = std::make_unique<stf::detail::split_handle>(c.state(), whole.state(), where, std::move(plan));
}

bound_parts::~bound_parts() {
  const nb::gil_scoped_release unlocked;
  parts_.reset();
}

std::vector<bound_parts::range> bound_parts::box(int i) const {
  std::vector<range> all;
  for (const index_range& r : parts_->plan().parts.at(static_cast<std::size_t>(i))) all.emplace_back(r.begin, r.end);
  return all;
}

bound_parts::range bound_parts::rows_with_halo(int i) const {
  const index_range r = parts_->plan().rows_with_halo(i);
  return {r.begin, r.end};
}

const std::shared_ptr<const stf::ghost_rows>& bound_parts::ghosts(int i) const {
  if (parts_->ghosts(i) == nullptr) stf::detail::refuse_halo();
  return parts_->ghosts(i);
}

void bound_parts::join() {
  const nb::gil_scoped_release unlocked;
  context_.join(*parts_);
}

bound_frozen::bound_frozen(const stf::context& c, const bound_access& access) : bound_frozen(c, access_of(access)) {}

bound_frozen::bound_frozen(const stf::context& c, const stf::data_access& access)
    : machine_(c.on()), pe_(access.place.is_host() ? host_place : access.place.pe()), stream_([this, &access] {
        const nb::gil_scoped_release unlocked;
        access.place.check(machine_.size());
        return machine_.new_stream(std::max(0, pe_));
      }()) {
  const nb::gil_scoped_release unlocked;
  frozen_.emplace(c.state(), access);
}

bound_frozen::~bound_frozen() {
  const nb::gil_scoped_release unlocked;
  frozen_.reset();
}

std::uintptr_t bound_frozen::get() {
  const nb::gil_scoped_release unlocked;
  return reinterpret_cast<std::uintptr_t>(frozen_->get(stream_));
}

void bound_frozen::synchronize() {
  const nb::gil_scoped_release unlocked;
  stream_.synchronize();
}

void bound_frozen::unfreeze() {
  const nb::gil_scoped_release unlocked;
  frozen_->unfreeze(stream_);
}

bound_task::bound_task(const stf::context& c, const std::shared_ptr<function_runner>& runner,
                       const stf::exec_place& where, const std::vector<bound_access>& accesses, const std::string& name,
                       int priority)
    : runner_(runner) {
  const stf::task_description what = describe(where, accesses, name, priority);
  // Views of what runs on the host are NumPy's.
  if (where.is_host()) stf::expect_data_on_host(what);
  const nb::gil_scoped_release unlocked;
  run_.emplace(c.state(), what);
}

bound_task::~bound_task() {
  if (!run_) return;
  const nb::gil_scoped_release unlocked;
  run_.reset();
}

stf::task_run& bound_task::open() {
  expect<argument_error>(run_.has_value(), "stf: the task is over");
  return *run_;
}

void bound_task::wait_for_data() {
  const nb::gil_scoped_release unlocked;
  stf::task_run& run = open();
  machine m = run.on();
  for (int place = 0; place < run.places(); ++place) {
    // An event, not the stream: other threads may be giving that more work.
    event there = m.new_event(run.stream(place).pe());
    run.stream(place).record(there);
    there.synchronize();
  }
}

std::uintptr_t bound_task::address(std::size_t access, int place) {
  return reinterpret_cast<std::uintptr_t>(open().memory(access, place));
}

std::vector<int> bound_task::devices() {
  std::vector<int> all;
  for (int place = 0; place < open().places(); ++place) all.push_back(open().pe(place));
  return all;
}

std::vector<std::uintptr_t> bound_task::streams() {
  std::vector<std::uintptr_t> all;
  for (int place = 0; place < open().places(); ++place)
    all.push_back(reinterpret_cast<std::uintptr_t>(open().stream(place).native()));
  return all;
}

void bound_task::call(std::uint64_t function) {
  const nb::gil_scoped_release unlocked;
  const std::shared_ptr<function_runner> held = runner_.lock();
  expect<argument_error>(held != nullptr, "stf: the context is over");
  open().stream().call([runner = held, function] {
    const nb::gil_scoped_acquire locked;
    if (!runner->run.is_valid()) return;
    try {
      runner->run(function);
    } catch (nb::python_error& problem) {
      problem.discard_as_unraisable("starling.stf: a function of host_launch");
    }
  });
}

void bound_task::finish() {
  const nb::gil_scoped_release unlocked;
  open().finish();
  run_.reset();
}

void bound_task::fail() {
  const nb::gil_scoped_release unlocked;
  open().fail();
  run_.reset();
}

bound_recording::~bound_recording() {
  const nb::gil_scoped_release unlocked;
  tasks_ = {};
}

void bound_recording::launch(std::uint64_t n) {
  const nb::gil_scoped_release unlocked;
  tasks_.launch(n);
}

bound_context::bound_context(const machine& m, const stf::context_options& options, nb::object runner,
                             std::vector<std::shared_ptr<python_allocator>> allocators)
    : runner_(std::make_shared<function_runner>(std::move(runner))), allocators_(std::move(allocators)) {
  const nb::gil_scoped_release unlocked;
  context_.emplace(m, options);
}

bound_context::~bound_context() {
  {
    // Work that is not over may still need the runner.
    const nb::gil_scoped_release unlocked;
    context_.reset();
  }
  runner_->run.reset();
}

bound_data bound_context::adopt(std::uintptr_t address, const std::vector<index_t>& shape, std::size_t element_bytes,
                                std::size_t pitch, const stf::data_place& place, bool write_back, bool secret) {
  const nb::gil_scoped_release unlocked;
  const array_view v{reinterpret_cast<std::byte*>(address), {shape, element_bytes}, pitch};
  stf::logical_data<array_view> made = get().logical_data(v, place, stf::no_call_site);
  if (!write_back) made.set_write_back(false);
  if (secret) made.set_secret();
  return bound_data(made.state());
}

bound_data bound_context::new_data(const std::vector<index_t>& shape, std::size_t element_bytes, bool secret) {
  const nb::gil_scoped_release unlocked;
  stf::logical_data<array_view> made = get().logical_data_of<array_view>({shape, element_bytes}, stf::no_call_site);
  if (secret) made.set_secret();
  return bound_data(made.state());
}

bound_data bound_context::token() {
  const nb::gil_scoped_release unlocked;
  return bound_data(get().token(stf::no_call_site).state());
}

std::unique_ptr<bound_parts> bound_context::split(const bound_data& whole, const std::vector<index_t>& shape,
                                                  std::size_t element_bytes, const std::vector<index_t>& counts,
                                                  index_t halo, bool periodic, const stf::data_place& where) {
  return std::make_unique<bound_parts>(get(), whole, shape, element_bytes, counts, stf::halo{halo, periodic}, where);
}

std::unique_ptr<bound_frozen> bound_context::freeze(const bound_access& access) {
  return std::make_unique<bound_frozen>(get(), access);
}

void bound_context::prefetch(const bound_data& data, const stf::data_place& where) {
  const nb::gil_scoped_release unlocked;
  get().prefetch(stf::logical_data<array_view>(data.state(), {}), where);
}

namespace {

// Calls a function of Python, which its caller keeps, on this thread.
auto calling(nb::handle body) {
  return [body] {
    const nb::gil_scoped_acquire locked;
    (void)body();
  };
}

}  // namespace

std::unique_ptr<bound_recording> bound_context::record(nb::handle body) {
  const nb::gil_scoped_release unlocked;
  return std::make_unique<bound_recording>(get().record(calling(body)));
}

void bound_context::repeat(std::uint64_t n, nb::handle body) {
  const nb::gil_scoped_release unlocked;
  get().repeat(n, calling(body));
}

namespace {

// How many bytes the flag has its data knows.
stf::logical_data<stf::scalar_view<std::int8_t>> flag_of(const bound_data& flag) { return {flag.state(), {}}; }

}  // namespace

void bound_context::repeat_while(const bound_data& flag, nb::handle body, std::uint64_t most) {
  const nb::gil_scoped_release unlocked;
  get().repeat_while(flag_of(flag), calling(body), most);
}

void bound_context::run_if(const bound_data& flag, nb::handle body, nb::handle otherwise) {
  const bool alone = otherwise.is_none();
  const nb::gil_scoped_release unlocked;
  get().run_if(flag_of(flag), calling(body),
               alone ? std::function<void()>() : std::function<void()>(calling(otherwise)));
}

std::unique_ptr<bound_task> bound_context::begin(const stf::exec_place& where,
                                                 const std::vector<bound_access>& accesses, const std::string& name,
                                                 int priority) {
  return std::make_unique<bound_task>(get(), runner_, where, accesses, name, priority);
}

}  // namespace starling::python

namespace starling::stf {

using python::array_shape;
using python::array_view;

std::vector<memory_part> data_interface<array_view>::parts(const array_view& v) {
  const std::size_t all = v.shape.bytes();
  if (v.pitch == 0) return {{v.start, 0, all, 1, all}};
  const auto rows = static_cast<std::size_t>(v.shape.extents.front());
  return {{v.start, 0, all / rows, rows, v.pitch}};
}

std::vector<index_t> data_interface<array_view>::extents(const array_shape& s) {
  std::vector<index_t> all = s.extents;
  all.back() *= static_cast<index_t>(s.element_bytes);
  return all;
}

}  // namespace starling::stf
