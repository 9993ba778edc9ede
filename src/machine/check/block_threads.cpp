#include "block_threads.hpp"

#include <algorithm>

#include "../awaited_words.hpp"
#include "block_member.hpp"

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

block_threads::block_threads(schedule& s, scheduled_block& a, scheduled_port& port, thread_fibers& fibers, int threads,
                             int in_warps_of)
    : schedule_(s),
      block_(a),
      port_(port),
      fibers_(fibers),
      in_warps_of_(in_warps_of),
      accesses_(s.marks().lines, s.marks().begin, threads) {
  all_.count = threads;
  all_.is_block = true;
  if (in_warps_of > 1) {
    warps_.resize(static_cast<std::size_t>(threads / in_warps_of));
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      warps_[w].first = static_cast<int>(w) * in_warps_of;
      warps_[w].count = in_warps_of;
    }
  }
  for (int i = 0; i < threads; ++i) {
    member& m = *members_.emplace_back(std::make_unique<member>(*this, i, threads));
    m.on = fibers_.take();
    m.on->home = &home();
    port_.add_memory_of_block(m.on->own.stack());
    can_.push_back(&m);
  }
}

void block_threads::note_warps() { schedule_.note_warps({all_.count, in_warps_of_}); }

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
    check_all_came(all_);
    for (company& w : warps_) check_all_came(w);
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
      can_.push_back(timed);
      make(*timed);
    }
    if (!can_.empty()) {
      const std::size_t drawn = schedule_.draw(can_.size());
      member& m = *can_[drawn];
      if (m.now == member::state::resting && satisfied(*m.pending->wait)) {
        make(m);
        continue;
      }
      can_[drawn] = can_.back();
      can_.pop_back();
      if (m.now == member::state::ready) return &m;
      waiting_.push_back(&m);  // what it waited for has changed again
      continue;
    }
    check_missing();
    if (all_.here.empty()) return nullptr;
    meet(all_);
  }
}

// After a thread has run: what it is about to do.
void block_threads::sort_in(member& m) {
  if (m.now == member::state::done) return;
  if (m.asks(request::kind::part)) return meet_in_part(m);
  if (m.asks(request::kind::warp)) return come_to_warp(m);
  if (m.now == member::state::ready || (!m.asks(request::kind::block) && satisfied(*m.pending->wait)))
    can_.push_back(&m);
  else
    (m.asks(request::kind::block) ? all_.here : waiting_).push_back(&m);
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
  c.in_warps_of = in_warps_of_;
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

// What a call of these threads reads or writes of memory that the block's threads share.
void block_threads::enter_call(const request& r, int first, int count) {
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
      const auto met = accesses_.enter(l, {.thread = first,
                                           .count = count,
                                           .read = r.writes ? 0 : mask,
                                           .written = r.writes ? mask : 0,
                                           .atomic = r.atomic,
                                           .call = r.what,
                                           .at = r.at});
      if (met) fail_unordered(*met);
    });
}

// Makes the call of one that can run, alone or for its warp.
void block_threads::make(member& m) {
  if (m.asks(request::kind::alone)) return make_alone(m);
  std::erase(can_, &m);
  meet(company_of(m));
}

void block_threads::make_alone(member& m) {
  const request& r = *m.pending;
  enter_call(r, m.number, 1);
  if (r.releases != nullptr) accesses_.release(m.number, r.releases);
  m.answer = (*r.make)();
  schedule_.block_rests();
  if (r.acquires != nullptr) accesses_.acquire(m.number, r.acquires);
  m.now = member::state::ready;
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

}  // namespace starling::check
