#include "thread_port.hpp"

#include <functional>
#include <type_traits>

#include "block_member.hpp"

namespace starling::check {
namespace {

// An argument of a call, to be compared.
template <class T>
std::uint64_t bits_of(T value) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<std::uintptr_t>(value);
  else
    return static_cast<std::uint64_t>(value);
}

}  // namespace

thread_port::thread_port(block_threads& all, block_threads::member& mine, whose calls, int threads)
    : all_(all), mine_(mine), calls_(calls) {
  set_thread(mine.number, threads, all.in_warps_of_);
}

host_port& thread_port::own() { return mine_.alone; }

host_port& thread_port::warp() {
  all_.note_warps();
  return threads_of_warp() > 1 ? mine_.of_warp : mine_.alone;
}

block_threads::company& thread_port::company() const {
  return calls_ == whose::block ? all_.all_ : all_.company_of(mine_);
}

template <class Make>
std::uint64_t thread_port::ask(request r, const Make& make) {
  const std::function<std::uint64_t()> call = [&make]() -> std::uint64_t {
    if constexpr (std::is_void_v<decltype(make())>) {
      make();
      return 0;
    } else {
      return bits_of(make());
    }
  };
  constexpr request::kind kinds[] = {request::kind::alone, request::kind::warp, request::kind::block};
  r.how = kinds[static_cast<int>(calls_)];
  r.make = &call;
  return all_.ask(mine_, r);
}

template <class Make>
void thread_port::refuse(const char* what, where at, const Make& make) {
  (void)mine_.alone.ask({.what = what, .at = at}, make);
  throw schedule_over{};
}

// Threads may each pass a variable of their own.
std::uint64_t thread_port::near(const void* address) const { return all_.argument_of(mine_, address); }

// ---- of the threads among themselves ----

void thread_port::sync(where at) {
  if (calls_ == whose::thread) return;
  (void)ask({.what = "sync", .at = at, .orders = true}, [] {});
}

void thread_port::sync_part(int first, int count, where at) {
  request r{.what = "sync", .at = at};
  r.how = request::kind::part;
  r.first = first;
  r.count = count;
  (void)all_.ask(mine_, r);
}

int thread_port::votes(bool value, where at) {
  if (calls_ == whose::thread) return value ? 1 : 0;
  const std::byte* all = gather(&value, sizeof value, at);
  int yes = 0;
  for (int i = 0; i < company().count; ++i) yes += std::to_integer<int>(all[i]);
  return yes;
}

const std::byte* thread_port::gather(const void* value, std::size_t bytes, where at) {
  if (calls_ == whose::thread) return static_cast<const std::byte*>(value);
  request r{.what = "a reduction, vote or first", .at = at, .arguments = {bits_of(bytes)}};
  r.orders = calls_ == whose::block;  // lanes of a warp hand each other values, and no memory
  r.value = value;
  r.value_bytes = bytes;
  (void)ask(r, [] {});
  return company().gathered.data();
}

void thread_port::come_alike(const char* what, std::initializer_list<std::uint64_t> arguments, where at) {
  if (calls_ == whose::thread) return;
  request r{.what = what, .at = at, .arguments = arguments};
  r.how = calls_ == whose::block ? request::kind::block : request::kind::warp;
  all_.come_alike(mine_, company(), r);
}

// ---- to other PEs ----

void thread_port::put(const transfer& t) {
  request r{.what = t.blocking ? "put" : "put_nbi", .at = t.at, .orders = t.blocking && t.barrier};
  r.arguments = {bits_of(t.dest),        near(t.source),           bits_of(t.count), bits_of(t.element),
                 bits_of(t.dest_stride), bits_of(t.source_stride), bits_of(t.pe),    bits_of(t.context)};
  r.touches = &t;
  (void)ask(r, [&] { all_.port().put(t); });
}

void thread_port::put_signal(const transfer& t, const signal_update& s) {
  request r{.what = "put_signal", .at = s.at, .orders = true};
  r.arguments = {bits_of(t.dest),   near(t.source),   bits_of(t.count), bits_of(t.element),
                 bits_of(s.target), bits_of(s.value), bits_of(s.pe),    bits_of(t.context)};
  r.touches = &t;
  r.releases = s.target;
  (void)ask(r, [&] { all_.port().put_signal(t, s); });
}

void thread_port::get(const transfer& t) {
  request r{.what = t.blocking ? "get" : "get_nbi", .at = t.at, .orders = t.blocking};
  r.arguments = {near(t.dest),           bits_of(t.source),        bits_of(t.count), bits_of(t.element),
                 bits_of(t.dest_stride), bits_of(t.source_stride), bits_of(t.pe),    bits_of(t.context)};
  r.touches = &t;
  r.writes = true;
  (void)ask(r, [&] { all_.port().get(t); });
}

void thread_port::update(const signal_update& s) {
  request r{.what = s.op == signal_op::set ? "signal_set" : "signal_add", .at = s.at, .orders = true};
  r.arguments = {bits_of(s.target), bits_of(s.value), bits_of(s.pe), bits_of(s.context)};
  r.releases = s.target;
  (void)ask(r, [&] { all_.port().update(s); });
}

bool thread_port::wait(const wait_request& w) {
  request r{.what = name(w.op), .at = w.at, .orders = true};
  r.arguments = {bits_of(w.local), bits_of(w.how), w.wanted, bits_of(w.n)};
  r.wait = &w;
  r.acquires = w.local;
  return ask(r, [&] { return all_.port().wait(w); }) != 0;
}

bool thread_port::test(const wait_request& w) {
  request r{.what = "test", .at = w.at, .orders = true};
  r.arguments = {bits_of(w.local), bits_of(w.how), w.wanted, bits_of(w.n)};
  r.acquires = w.local;
  return ask(r, [&] { return all_.port().test(w); }) != 0;
}

void thread_port::atomic(const atomic_call& c) {
  request r{.what = "atomic", .at = c.at};
  r.arguments = {bits_of(c.address), bits_of(c.bytes), bits_of(c.pe)};
  transfer word;
  word.dest = c.address;
  word.source = c.address;
  word.count = 1;
  word.element = c.bytes;
  r.touches = &word;
  r.writes = c.card != by_card::load;
  r.atomic = true;
  if (releases(c.order)) r.releases = c.address;
  if (acquires(c.order)) r.acquires = c.address;
  (void)ask(r, [&] { all_.port().atomic(c); });
}

bool thread_port::launch(const kernel_launch& k) {
  request r{.what = "launch", .at = k.at, .orders = true};
  r.arguments = {bits_of(k.run), bits_of(k.closure_bytes)};
  return ask(r, [&] { return all_.port().launch(k); }) != 0;
}

void thread_port::collective(const collective_call& c) {
  request r{.what = name(c.op), .at = c.at};
  r.arguments = {bits_of(c.bytes), c.value_bits, bits_of(c.root), bits_of(c.meeting)};
  (void)ask(r, [&] { all_.port().collective(c); });
}

// ---- order and contexts ----

void thread_port::fence(int context) {
  (void)ask({.what = "fence", .orders = true, .arguments = {bits_of(context)}}, [&] { all_.port().fence(context); });
}
void thread_port::quiet(int context) {
  (void)ask({.what = "quiet", .orders = true, .arguments = {bits_of(context)}}, [&] { all_.port().quiet(context); });
}
int thread_port::open_context() {
  return static_cast<int>(ask({.what = "context"}, [&] { return all_.port().open_context(); }));
}
void thread_port::close_context(int context) {
  (void)ask({.what = "~context", .arguments = {bits_of(context)}}, [&] { all_.port().close_context(context); });
}
bool thread_port::reach(int pe) {
  return ask({.what = "ptr", .arguments = {bits_of(pe)}}, [&] { return all_.port().reach(pe); }) != 0;
}

void thread_port::refuse_pe(operation op, int pe, where at) {
  refuse(name(op), at, [&] { all_.port().refuse_pe(op, pe, at); });
}
void thread_port::refuse_address(const void* address, where at) {
  refuse("", at, [&] { all_.port().refuse_address(address, at); });
}
void thread_port::refuse_barrier(operation op, where at) {
  refuse(name(op), at, [&] { all_.port().refuse_barrier(op, at); });
}

// ---- memory ----

std::byte* thread_port::scratch(std::size_t bytes, where at) {
  request r{.what = "scratch", .at = at, .arguments = {bits_of(bytes)}};
  return reinterpret_cast<std::byte*>(ask(r, [&] { return all_.port().scratch(bytes, at); }));
}

std::byte* thread_port::staging(std::size_t bytes) {
  if (calls_ == whose::thread) {
    if (staging_.empty() || staging_.back().size() < bytes) {
      staging_.emplace_back(bytes);
      all_.port().add_memory_of_block({bits_of(staging_.back().data()), bytes});
    }
    return staging_.back().data();
  }
  request r{.what = "put", .arguments = {bits_of(bytes)}};
  return reinterpret_cast<std::byte*>(ask(r, [&] {
    if (calls_ == whose::block) return all_.port().staging(bytes);
    return all_.members_[static_cast<std::size_t>(company().first)]->alone.staging(bytes);
  }));
}

}  // namespace starling::check
