#include "world.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "contexts.hpp"
#include "far_meetings.hpp"
#include "heap.hpp"
#include "machine/distributed/futex.hpp"
#include "machine/distributed/process_group.hpp"
#include "machine/symmetric_heap.hpp"
#include "memory_access.hpp"
#include "starling/base/environment.hpp"
#include "teams.hpp"

namespace starling::openshmem {
namespace {

// Not destroyed at exit: other threads may still be in calls.
world*& current() {
  static world* w = nullptr;
  return w;
}

using clock = std::chrono::steady_clock;

clock::time_point after(double seconds) {
  return clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
}

std::vector<bool> near_of(const job& j) {
  std::vector<bool> near;
  for (int pe = 0; pe < j.processes(); ++pe) near.push_back(j.is_near(pe));
  return near;
}

std::size_t pages(std::size_t bytes) { return (bytes + globals::page() - 1) / globals::page() * globals::page(); }

// What the program has printed is not lost; a stream that another thread is writing to is left alone.
void flush(std::FILE* f) {
  if (::ftrylockfile(f) != 0) return;
  (void)::fflush_unlocked(f);
  ::funlockfile(f);
}

}  // namespace

world* world::now() { return current(); }

world& world::here() {
  expect<argument_error>(current() != nullptr, call(),
                         ": called outside shmem_init and shmem_finalize; call shmem_init before it");
  return *current();
}

world::world()
    : job_(globals_.bytes() + 2 * globals::page() + pages(sizeof(control))),
      near_(near_of(job_)),
      first_here_(static_cast<int>(std::find(near_.begin(), near_.end(), true) - near_.begin())),
      far_(job_),
      start_(job_.heap().where().start),
      stride_(static_cast<std::size_t>(job_.heap().where().stride)),
      me_(job_.process()),
      size_(job_.processes()),
      deadline_(environment::read().meeting_deadline),
      lot_(job_.lot()) {
  make_memory();
  meetings_ = std::make_unique<far_meetings>(*this);
  if (messenger* m = job_.messages())
    m->handle(message_kind::ending,
              [this](int, const message_view& v) { say_end(static_cast<std::uint32_t>(v.head.number)); });
  heap_ = std::make_unique<heap>(*this);
  teams_ = std::make_unique<teams>(*this);
  contexts_ = std::make_unique<contexts>();
  job_.meet("shmem_init");
  watcher_ = std::thread([this] { watch(); });
}

// Fresh memory is zero.
void world::make_memory() {
  globals_at_ = pages(job_.allocate(globals_.bytes() + globals::page()));
  control_at_ = job_.allocate(sizeof(control));
  process_group& group = job_.group();
  group.undisturbed([&] {
    globals_.share(group.memory(), static_cast<std::size_t>(me_) * stride_ + globals_at_, on(me_, globals_at_));
  });
}

world::~world() {
  over_.store(true);
  futex::wake_all(controls(first_here_).exit);
  watcher_.join();
  if (messenger* m = job_.messages()) m->handle(message_kind::ending, {});
  meetings_.reset();
  job_.group().undisturbed([this] { globals_.take_back(); });
}

void world::begin() { current() = new world; }

void world::end() {
  delete current();
  current() = nullptr;
}

bool world::find(const void* address, std::size_t bytes, std::size_t& at) const {
  const symmetric_heap& memory = job_.heap();
  const auto* wanted = static_cast<const std::byte*>(address);
  const std::byte* mine = on(me_, 0);
  if (wanted >= mine && wanted < mine + memory.where().capacity) {
    at = static_cast<std::size_t>(wanted - mine);
    return memory.contains(address, bytes, me_);
  }
  if (!globals_.find(address, bytes, at)) return false;
  at += globals_at_;
  return true;
}

std::size_t world::place(const void* address, std::size_t bytes, const char* what) const {
  std::size_t at = 0;
  if (find(address, bytes, at)) return at;
  if (bytes == 0) return 0;
  throw range_error(message(call(), ": ", what, " = ", address, ", ", bytes,
                            " bytes, is not symmetric: neither within memory of shmem_malloc nor a global or static "
                            "variable of the executable; variables of functions, of malloc and of shared libraries "
                            "are not"));
}

void world::store(int pe, const copied_rows& c) {
  if (!is_near(pe)) return far_.store(c, pe);
  for (std::size_t i = 0; i < c.rows; ++i) move(c.to + i * c.to_pitch, c.from + i * c.from_pitch, c.row_bytes);
  written(c.to, (c.rows - 1) * c.to_pitch + c.row_bytes);
}

void world::load(int pe, const copied_rows& c) {
  if (!is_near(pe)) return far_.load(c);
  for (std::size_t i = 0; i < c.rows; ++i) move(c.to + i * c.to_pitch, c.from + i * c.from_pitch, c.row_bytes);
}

void world::check_pe(int pe, const char* what) const {
  expect<range_error>(pe >= 0 && pe < size_, call(), ": ", what, " = ", pe, "; must be from 0 to ", size_ - 1);
}

void world::expect_alive() { job_.group().expect_alive(call()); }

bool world::stopped() const {
  return job_.group().has_lost() || reinterpret_cast<const control*>(on(first_here_, control_at_))->exit.load() != 0;
}

std::optional<messenger::awaited> world::waiting() {
  if (messenger* m = job_.messages()) return std::optional<messenger::awaited>(std::in_place, *m);
  return std::nullopt;
}

void world::wait_for_value(const void* word, const std::function<bool()>& ready, const text& what) {
  bool yes = false;  // what is awaited may be over at the next look
  const auto look = [&] { return (yes = ready()) || stopped(); };
  const auto soon = waiting();
  (void)lot_.wait_for_value(word, after(deadline_), look);
  finish_wait(yes || ready(), what);
}

void world::wait_for_change(const void* word, const std::function<bool()>& ready, const text& what, double longer) {
  bool yes = false;
  const auto look = [&] { return (yes = ready()) || stopped(); };
  const auto soon = waiting();
  (void)lot_.wait(word, after(deadline_ + longer), look);
  finish_wait(yes || ready(), what);
}

void world::wait_for_word_of(int pe, const void* word, const std::function<bool()>& ready, const text& what) {
  if (is_near(pe)) return wait_for_change(word, ready, what);
  constexpr std::chrono::microseconds longest{1000};
  std::chrono::microseconds nap{10};
  const auto most = after(deadline_);
  bool yes = false;
  while (!(yes = ready()) && !stopped() && clock::now() < most) {
    std::this_thread::sleep_for(nap);
    nap = std::min(longest, 2 * nap);
  }
  finish_wait(yes, what);
}

void world::finish_wait(bool yes, const text& what) {
  if (yes) return;
  while (is_ending()) (void)::pause();  // the other thread ends the process
  expect_alive();
  throw late_error(message(call(), ": ", what(), " within ", deadline_,
                           " s; see what the others do, or raise STARLING_MEETING_DEADLINE"));
}

void world::tested_in_vain() {
  constexpr std::uint32_t often = 16;
  if (vain_.fetch_add(1, std::memory_order_relaxed) % often != 0) return;
  if (stopped()) finish_wait(false, [] { return std::string("another PE ended"); });
  (void)::sched_yield();
}

// Ends this process when another one says so.
void world::watch() {
  std::atomic<std::uint32_t>& word = controls(first_here_).exit;
  while (!over_.load()) {
    const std::uint32_t said = word.load();
    if (said != 0 && !over_.exchange(true)) {
      flush(stdout);
      flush(stderr);
      end_engine(static_cast<int>(said & 255));
      ::_exit(static_cast<int>(said & 255));
    }
    futex::wait(word, 0, std::chrono::seconds(1));
  }
}

void world::say_end(std::uint32_t word) {
  std::uint32_t none = 0;
  (void)controls(first_here_).exit.compare_exchange_strong(none, word);
  futex::wake_all(controls(first_here_).exit);
  lot_.wake_all();
}

// MPI may wait for all processes, which come when they have been told. Who does not come does not keep this one: then
// the launcher sees that it has ended, and ends the others.
void world::end_engine(int status) {
  if (!has_far()) return;
  constexpr std::chrono::seconds most{5};
  std::thread([status, most] {
    std::this_thread::sleep_for(most);
    ::_exit(status);
  }).detach();
  job_.messages()->end_process();
}

void world::end_all(int status) {
  const bool already_over = over_.exchange(true);  // this process ends by exit(), not by the other thread
  // A launcher may end this process as soon as another one has ended.
  flush(stdout);
  flush(stderr);
  message_head h{message_kind::ending};
  h.number = 256U | (static_cast<std::uint32_t>(status) & 255U);
  for (int pe = 0; pe < size_ && !already_over; ++pe)
    if (!is_near(pe)) job_.messages()->post(pe, made_message(h));
  say_end(static_cast<std::uint32_t>(h.number));
  if (already_over)
    for (;;) (void)::pause();
  std::exit(status);
}

void end_job(int status) {
  if (world* w = world::now()) w->end_all(status);
  std::exit(status);
}

}  // namespace starling::openshmem
