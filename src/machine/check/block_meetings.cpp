// How the threads of a block meet: in its calls, in those of their warp, and in barriers of a part of them; and what is
// said of those who do not come, or come with something else.
#include <algorithm>
#include <cstring>

#include "../awaited_words.hpp"
#include "block_member.hpp"

namespace starling::check {
namespace {

bool alike(const block_threads::request& a, const block_threads::request& b) {
  return std::strcmp(a.what, b.what) == 0 && a.arguments == b.arguments;
}

std::string place_text(const block_threads::request& r) {
  return r.at.line == 0 ? std::string() : message(" at ", r.at.file, ":", r.at.line);
}

}  // namespace

block_threads::company& block_threads::company_of(const member& m) {
  return warps_[static_cast<std::size_t>(m.number / in_warps_of_)];
}

// A thread has come to a barrier of a part of them: if it is the last one, all go on.
void block_threads::meet_in_part(member& last) {
  const request r = *last.pending;
  in_parts_.push_back(&last);
  const auto part = std::span(members_).subspan(static_cast<std::size_t>(r.first), static_cast<std::size_t>(r.count));
  if (!std::ranges::all_of(part, [&](const auto& m) { return m->in_part(r); })) return;
  accesses_.barrier_of(r.first, r.count);
  for (const auto& m : part) {
    std::erase(in_parts_, m.get());
    m->now = member::state::ready;
    can_.push_back(m.get());
  }
}

// A thread has come to a call of its warp: if it is the last one, that is made, or waits for what it awaits.
void block_threads::come_to_warp(member& m) {
  company& w = company_of(m);
  w.here.push_back(&m);
  if (w.here.size() < static_cast<std::size_t>(w.count)) return;
  std::ranges::sort(w.here, {}, &member::number);
  check_alike(w);
  member& first = *w.here.front();
  if (first.pending->wait == nullptr || satisfied(*first.pending->wait))
    meet(w);
  else
    waiting_.push_back(&first);
}

// All of the threads that have not returned have come to a call.
void block_threads::meet(company& c) {
  std::ranges::sort(c.here, {}, &member::number);
  if (c.here.size() < static_cast<std::size_t>(c.count)) fail_missing(*c.here.front());
  check_all_came(c);
  if (c.is_block)
    for (company& w : warps_) check_all_came(w);
  check_alike(c);
  const request& r = *c.here.front()->pending;
  enter_call(r, c.is_block ? all_threads : c.first, c.count);
  if (r.value != nullptr) {
    c.gathered.resize(r.value_bytes * c.here.size());
    for (std::size_t i = 0; i < c.here.size(); ++i)
      std::memcpy(c.gathered.data() + i * r.value_bytes, c.here[i]->pending->value, r.value_bytes);
  }
  // A call that releases has its barrier before that, all others behind what they acquire.
  if (!c.is_block && r.releases != nullptr) {
    order(c);
    accesses_.release(c.first, r.releases);
  }
  const std::uint64_t answer = (*r.make)();
  schedule_.block_rests();
  if (!c.is_block && r.acquires != nullptr) accesses_.acquire(c.first, r.acquires);
  if (r.orders) order(c);
  for (member* m : c.here) {
    if (m->pending->wait != nullptr && m->pending->wait->seen != nullptr) *m->pending->wait->seen = *r.wait->seen;
    m->answer = answer;
    m->now = member::state::ready;
    can_.push_back(m);
  }
  c.here.clear();
}

// A barrier of these threads.
void block_threads::order(const company& c) {
  if (!c.is_block) return accesses_.barrier_of(c.first, c.count);
  accesses_.barrier();
  loops_.clear();
  for (const auto& m : members_) m->loops = 0;
}

// ---- what they must do alike ----

std::uint64_t block_threads::argument_of(const member& m, const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return m.on->own.stack().holds(at, 1) ? 1 : at;
}

// On the thread's own fiber.
void block_threads::come_alike(member& m, company& c, request r) {
  const std::size_t number = m.common_of(c)++;
  if (number == c.common.size()) {
    c.common.push_back({std::move(r), m.number});
    return;
  }
  const company::common_call& first = c.common[number];
  if (alike(first.made, r)) return;
  const std::function<std::uint64_t()> fail = [&]() -> std::uint64_t {
    fail_unlike(c, first.made, first.thread, r, m.number);
  };
  r.how = request::kind::alone;
  r.make = &fail;
  (void)ask(m, r);
}

void block_threads::check_alike(const company& c) {
  const member& first = *c.here.front();
  for (const member* m : c.here)
    if (!alike(*first.pending, *m->pending)) fail_unlike(c, *first.pending, first.number, *m->pending, m->number);
}

// All these threads have come to a call of theirs, or have returned.
void block_threads::check_all_came(company& c) {
  const auto mine = std::span(members_).subspan(static_cast<std::size_t>(c.first), static_cast<std::size_t>(c.count));
  for (const auto& m : mine) {
    if (m->common_of(c) >= c.common.size()) continue;
    const company::common_call& missed = c.common[m->common_of(c)];
    schedule_.fail({defect::collective,
                    message(block_text(block_), ": threads missing: ", text_of(missed.made, missed.thread), ", ",
                            instead_text(*m), " without it; all threads of ", c.is_block ? "a block" : "a warp",
                            " make its calls: calls of one thread are made on b.thread()"),
                    {block_.number}});
  }
  for (const auto& m : mine) m->common_of(c) = 0;
  c.common.clear();
}

// No thread can go on but in a call of the block.
void block_threads::check_missing() {
  if (!in_parts_.empty()) fail_missing_in_part(*in_parts_.front());
  for (const company& w : warps_)
    if (!w.here.empty()) fail_missing_in_warp(w);
}

// ---- what is said of them ----

std::string block_threads::text_of(const request& r, int thread) const {
  const std::string of_warp =
      r.how == request::kind::warp ? message(" of warp ", thread / in_warps_of_) : std::string();
  return message("thread ", thread, " calls ", r.what, of_warp, place_text(r));
}

std::string block_threads::instead_text(const member& m) const {
  return m.now == member::state::done ? message("thread ", m.number, " has returned") : text_of(*m.pending, m.number);
}

void block_threads::fail_unlike(const company& c, const request& first, int thread, const request& other,
                                int other_thread) {
  const bool same_call = std::strcmp(first.what, other.what) == 0;
  const std::string all = message("all threads of ", c.is_block ? "a block" : "a warp");
  schedule_.fail(
      {defect::collective,
       message(block_text(block_), same_call ? ": arguments differ: " : ": threads missing: ", text_of(first, thread),
               ", ", text_of(other, other_thread), ", of ", c.count, c.is_block ? "; " : " of a warp; ", all,
               same_call ? " call with the same arguments"
                         : " make its calls, in the same order: calls of one thread are made on "
                           "b.thread()"),
       {block_.number}});
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

void block_threads::fail_missing_in_warp(const company& w) {
  const member& here = *w.here.front();
  const auto all = std::span(members_).subspan(static_cast<std::size_t>(w.first), static_cast<std::size_t>(w.count));
  const auto missing = std::ranges::find_if(all, [](const auto& m) { return !m->asks(request::kind::warp); });
  schedule_.fail({defect::collective,
                  message(block_text(block_), ": threads missing: ", text_of(*here.pending, here.number), ", ",
                          instead_text(**missing), ", of ", w.count,
                          " of a warp; all threads of a warp make its calls: calls of one thread are made on "
                          "b.thread()"),
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
