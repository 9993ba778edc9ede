#include "block_threads.hpp"

#include <algorithm>
#include <cstring>

#include "../awaited_words.hpp"
#include "thread_port.hpp"

namespace starling::check {

void thread_fibers::one::loop(void* self) {
  auto& mine = *static_cast<one*>(self);
  while (true) {
    mine.job();
    fiber::switch_to(mine.own, *mine.home);
  }
}

std::unique_ptr<thread_fibers::one> thread_fibers::take() {
  if (free_.empty()) return std::make_unique<one>();
  std::unique_ptr<one> f = std::move(free_.back());
  free_.pop_back();
  return f;
}

struct block_threads::member {
  enum class state { ready, resting, done };

  member(block_threads& all, int i, int threads)
      : number(i),
        alone(all, *this, i, threads, nullptr),
        of_block(all, *this, i, threads, &alone),
        scope(all.block_.scope) {}

  int number;
  thread_port alone;
  thread_port of_block;
  std::unique_ptr<thread_fibers::one> on;
  state now = state::ready;
  bool begun = false;
  const access_scope* scope;  // of the work that it does
  const request* pending = nullptr;
  std::uint64_t answer = 0;
  std::size_t common_calls = 0;   // to which it has come since the threads last met
  std::size_t loops = 0;          // and loops, since the last barrier
  loop_accesses* loop = nullptr;  // in which it is

  bool in_part(const request& r) const {
    return now == state::resting && pending->how == request::kind::part && pending->first == r.first &&
           pending->count == r.count;
  }
  bool in_meeting() const { return now == state::resting && pending->how == request::kind::meeting; }
};

namespace {

bool alike(const block_threads::request& a, const block_threads::request& b) {
  return std::strcmp(a.what, b.what) == 0 && a.arguments == b.arguments;
}

}  // namespace

block_threads::block_threads(schedule& s, scheduled_block& a, scheduled_port& port, thread_fibers& fibers, int threads)
    : schedule_(s), block_(a), port_(port), fibers_(fibers), accesses_(s.marks().lines, s.marks().begin, threads) {
  for (int i = 0; i < threads; ++i) {
    member& m = *members_.emplace_back(std::make_unique<member>(*this, i, threads));
    m.on = fibers_.take();
    m.on->home = &home();
    port_.add_memory_of_block(m.on->own.stack());
    can_.push_back(&m);
  }
}

block_threads::~block_threads() {
  for (const auto& m : members_) fibers_.give_back(std::move(m->on));
}

void block_threads::run(const std::function<void(host_port&)>& kernel) {
  schedule_.block_rests();
  for (const auto& m : members_)
    m->on->job = [this, &kernel, &mine = *m] {
      try {
        kernel(mine.of_block);
      } catch (const schedule_over&) {
      } catch (...) {
        if (!thrown_) thrown_ = std::current_exception();
      }
      mine.now = member::state::done;
    };
  try {
    while (member* m = next()) step(*m);
    check_all_came();
  } catch (...) {
    end_members();
    throw;
  }
  schedule_.written_alike += accesses_.written_alike();
}

// Threads that have begun leave the kernel, so that what lies on their stacks is destroyed.
void block_threads::end_members() {
  ending_ = true;
  for (const auto& m : members_)
    if (m->begun && m->now != member::state::done) fiber::switch_to(home(), m->on->own);
}

// On the thread's own fiber.
std::uint64_t block_threads::ask(member& m, const request& r) {
  running_marks = nullptr;
  if (ending_) throw schedule_over{};
  m.pending = &r;
  m.now = member::state::resting;
  fiber::switch_to(m.on->own, home());
  if (ending_) throw schedule_over{};
  return m.answer;
}

// Who runs next: a thread that can, drawn by the seed; when all rest in a call of the block, that is made. Null: all
// have returned.
block_threads::member* block_threads::next() {
  while (true) {
    // What anybody has done may have ended a wait.
    for (std::size_t i = waiting_.size(); i-- > 0;) {
      member* m = waiting_[i];
      if (!satisfied(*m->pending->wait)) continue;
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      can_.push_back(m);
    }
    if (can_.empty() && !waiting_.empty()) {
      member* timed = wait_for_any();
      if (timed == nullptr) continue;
      std::erase(waiting_, timed);
      make_alone(*timed);
      can_.push_back(timed);
    }
    if (!can_.empty()) {
      const std::size_t drawn = schedule_.draw(can_.size());
      member& m = *can_[drawn];
      if (m.now == member::state::resting && satisfied(*m.pending->wait)) {
        make_alone(m);
        continue;
      }
      can_[drawn] = can_.back();
      can_.pop_back();
      if (m.now == member::state::ready) return &m;
      waiting_.push_back(&m);  // what it waited for has changed again
      continue;
    }
    if (!in_parts_.empty()) fail_missing_in_part(*in_parts_.front());
    if (here_.empty()) return nullptr;
    meet();
  }
}

// After a thread has run: what it is about to do.
void block_threads::sort_in(member& m) {
  if (m.now == member::state::done) return;
  if (m.now == member::state::resting && m.pending->how == request::kind::part) return meet_in_part(m);
  if (m.now == member::state::ready || (!m.in_meeting() && satisfied(*m.pending->wait)))
    can_.push_back(&m);
  else
    (m.in_meeting() ? here_ : waiting_).push_back(&m);
}

// No thread can go on before one of these waits ends. One that has a time of its own is waited for by itself.
block_threads::member* block_threads::wait_for_any() {
  std::vector<const wait_request*> all;
  for (member* m : waiting_) {
    if (m->pending->wait->limit_ns != 0) return m;
    all.push_back(m->pending->wait);
  }
  if (all.size() == 1) return waiting_.front();
  schedule_.wait_for_any(block_, all);
  return nullptr;
}

// Lets a thread run until it asks for something.
void block_threads::step(member& m) {
  m.begun = true;
  block_.scope = m.scope;
  schedule_.thread_runs(block_, m.number, accesses_.interval());
  fiber::switch_to(home(), m.on->own);
  m.scope = block_.scope;
  schedule_.block_rests();
  rest(m);  // what is found here may be why it has thrown
  if (thrown_) std::rethrow_exception(thrown_);
  if (m.now == member::state::done) return schedule_.check_stack_unused(block_, m.on->own.stack());
  const request& r = *m.pending;
  if (r.how == request::kind::alone && (r.wait == nullptr || satisfied(*r.wait))) make_alone(m);
  sort_in(m);
}

void block_threads::fail_unordered(thread_conflict c) {
  c.block = block_.number;
  finding f{defect::within_block, "", {block_.number}};
  f.threads = c;
  schedule_.fail(std::move(f));
}

// What the thread has touched since it came to run. Where it meets a transfer that quiet() has not ended, or another
// block, the schedule says so: a barrier of the block would not mend that.
void block_threads::rest(const member& m) {
  std::optional<thread_conflict> met;
  for (line* l : schedule_.marks().touched) {
    if ((l->read | l->written) == 0) continue;
    const auto c = accesses_.enter(*l, {.thread = m.number, .read = l->read, .written = l->written});
    if (!met) met = c;
  }
  schedule_.thread_rests(block_);
  if (met) fail_unordered(*met);
}

// What a call reads or writes of memory that the threads share.
void block_threads::enter_call(const request& r, int thread) {
  if (r.touches == nullptr || r.touches->count <= 0) return;
  const transfer& t = *r.touches;
  const auto* start = static_cast<const std::byte*>(r.writes ? t.dest : t.source);
  const index_t stride = r.writes ? t.dest_stride : t.source_stride;
  if (!schedule_.memory().covers(start)) return;
  const auto element = static_cast<index_t>(t.element);
  const index_t runs = stride == 1 ? 1 : t.count;
  const auto bytes = static_cast<std::size_t>(stride == 1 ? t.count * element : element);
  for (index_t i = 0; i < runs; ++i)
    schedule_.memory().over(start + i * stride * element, bytes, [&](const line& l, std::uint64_t mask) {
      const auto met = accesses_.enter(l, {.thread = thread,
                                           .read = r.writes ? 0 : mask,
                                           .written = r.writes ? mask : 0,
                                           .atomic = r.atomic,
                                           .call = r.what,
                                           .at = r.at});
      if (met) fail_unordered(*met);
    });
}

void block_threads::make_alone(member& m) {
  const request& r = *m.pending;
  enter_call(r, m.number);
  if (r.releases != nullptr) accesses_.release(m.number, r.releases);
  m.answer = (*r.make)();
  schedule_.block_rests();
  if (r.acquires != nullptr) accesses_.acquire(m.number, r.acquires);
  m.now = member::state::ready;
}

// A thread has come to a barrier of a part of them: if it is the last one, all go on.
void block_threads::meet_in_part(member& last) {
  const request r = *last.pending;
  in_parts_.push_back(&last);
  const auto part = std::span(members_).subspan(static_cast<std::size_t>(r.first), static_cast<std::size_t>(r.count));
  if (!std::ranges::all_of(part, [&](const auto& m) { return m->in_part(r); })) return;
  for (const auto& m : part) accesses_.release(m->number, part.front().get());
  for (const auto& m : part) {
    accesses_.acquire(m->number, part.front().get());
    std::erase(in_parts_, m.get());
    m->now = member::state::ready;
    can_.push_back(m.get());
  }
}

// All threads that have not returned have come to a call of the block.
void block_threads::meet() {
  std::ranges::sort(here_, {}, &member::number);
  if (here_.size() < members_.size()) fail_missing(*here_.front());
  check_all_came();
  check_alike();
  const request& r = *here_.front()->pending;
  enter_call(r, all_threads);
  if (r.value != nullptr) {
    gathered_.resize(r.value_bytes * here_.size());
    for (std::size_t i = 0; i < here_.size(); ++i)
      std::memcpy(gathered_.data() + i * r.value_bytes, here_[i]->pending->value, r.value_bytes);
  }
  const std::uint64_t answer = (*r.make)();
  schedule_.block_rests();
  if (r.orders) {
    accesses_.barrier();
    loops_.clear();
    for (const auto& m : members_) m->loops = 0;
  }
  for (member* m : here_) {
    m->answer = answer;
    m->now = member::state::ready;
  }
  can_.swap(here_);
}

// ---- loops whose elements are unordered; on the thread's own fiber ----

void block_threads::begin_loop(member& m) {
  if (m.loops == loops_.size())
    loops_.push_back(std::make_unique<loop_accesses>(schedule_.marks(), schedule_.count_loop()));
  m.loop = loops_[m.loops++].get();
  m.loop->begin();
}

void block_threads::next_element(const member& m, std::span<const index_t> at) {
  schedule_.enter_element(block_, *m.loop);
  m.loop->start(at);
}

void block_threads::end_loop(member& m) {
  schedule_.enter_element(block_, *m.loop);
  m.loop->end();
  m.loop = nullptr;
}

// ---- what they must do alike ----

std::uint64_t block_threads::argument_of(const member& m, const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return m.on->own.stack().holds(at, 1) ? 1 : at;
}

std::string block_threads::text_of(const request& r, int thread) {
  const std::string call = message("thread ", thread, " calls ", r.what);
  return r.at.line == 0 ? call : message(call, " at ", r.at.file, ":", r.at.line);
}

void block_threads::check_alike() {
  const request& first = *here_.front()->pending;
  for (const member* m : here_) {
    const request& r = *m->pending;
    if (!alike(first, r)) fail_unlike(first, here_.front()->number, r, m->number);
  }
}

void block_threads::fail_unlike(const request& first, int thread, const request& other, int other_thread) {
  const bool same_call = std::strcmp(first.what, other.what) == 0;
  schedule_.fail({defect::collective,
                  message(block_text(block_), same_call ? ": arguments differ: " : ": threads missing: ",
                          text_of(first, thread), ", ", text_of(other, other_thread), ", of ", members_.size(),
                          same_call ? "; all threads of a block call with the same arguments"
                                    : "; all threads of a block make its calls, in the same order: calls of one "
                                      "thread are made on b.thread()"),
                  {block_.number}});
}

// On the thread's own fiber.
void block_threads::come_alike(member& m, request r) {
  const std::size_t number = m.common_calls++;
  if (number == common_.size()) {
    common_.push_back({std::move(r), m.number});
    return;
  }
  const common_call& first = common_[number];
  if (alike(first.made, r)) return;
  const std::function<std::uint64_t()> fail = [&]() -> std::uint64_t {
    fail_unlike(first.made, first.thread, r, m.number);
  };
  r.how = request::kind::alone;
  r.make = &fail;
  (void)ask(m, r);
}

// All threads have come to a call of the block, or have returned.
void block_threads::check_all_came() {
  for (const auto& m : members_) {
    if (m->common_calls < common_.size()) {
      const common_call& missed = common_[m->common_calls];
      const std::string instead = m->now == member::state::done ? message("thread ", m->number, " has returned")
                                                                : text_of(*m->pending, m->number);
      schedule_.fail(
          {defect::collective,
           message(block_text(block_), ": threads missing: ", text_of(missed.made, missed.thread), ", ", instead,
                   " without it; all threads of a block make its calls: calls of one thread are "
                   "made on b.thread()"),
           {block_.number}});
    }
  }
  for (const auto& m : members_) m->common_calls = 0;
  common_.clear();
}

void block_threads::fail_missing_in_part(const member& here) {
  const request& r = *here.pending;
  int missing = 0;
  for (int i = r.first; i < r.first + r.count; ++i)
    missing += members_[static_cast<std::size_t>(i)]->in_part(r) ? 0 : 1;
  schedule_.fail({defect::collective,
                  message(block_text(block_), ": threads missing: ", text_of(r, here.number), " for its group of ",
                          r.count, " threads, of which ", missing,
                          " have returned or wait elsewhere; all threads of a group make the same calls of sync"),
                  {block_.number}});
}

void block_threads::fail_missing(const member& here) {
  std::string gone;
  for (const auto& m : members_)
    if (m->now == member::state::done) gone += message(gone.empty() ? "" : ", ", m->number);
  schedule_.fail({defect::collective,
                  message(block_text(block_), ": threads missing: ", text_of(*here.pending, here.number), ", and of ",
                          members_.size(), " threads these have returned from the kernel: ", gone,
                          "; all threads of a block make its calls"),
                  {block_.number}});
}

}  // namespace starling::check
