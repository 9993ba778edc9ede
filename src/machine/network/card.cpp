#include "card.hpp"

#include <algorithm>
#include <cstring>

namespace starling::network {

queue_setup setup_of(const queue_pair& q, std::uint64_t first) {
  return {q.number,
          q.depth,
          static_cast<std::uint16_t>(first),
          q.ring,
          q.record,
          q.doorbell,
          q.completions,
          q.completion_record,
          q.memory,
          q.pe,
          q.peer};
}

bool card_queue::look(step how) {
  std::uint16_t next = 0;
  if (how == step::look_at_record)
    next = told_by_record(memory_.look(*s_.record));
  else if (!told_by_doorbell(memory_.look(*s_.doorbell), next))
    return false;
  if (is_news(next, told_, s_.depth)) told_ = next;
  return fetched_ != told_;
}

void card_queue::choices(std::vector<choice>& all) const {
  if (fetched_ != told_) all.push_back({step::fetch, 0, 0});
  for (std::size_t i = 0; i < under_way_.size(); ++i) {
    const work& w = under_way_[i];
    if (!w.gathered && may_start(i)) {
      all.push_back({step::gather, i, 0});
      break;  // one after the other
    }
    if (!w.gathered) break;
    if (may_start(i))
      for (std::size_t p = 0; p < w.pieces.size(); ++p) all.push_back({step::land, i, p});
  }
  if (may_complete()) all.push_back({step::complete, 0, 0});
}

bool card_queue::may_complete() const {
  return !under_way_.empty() && under_way_.front().landed() && memory_.settled(name_of(under_way_.front()));
}

void card_queue::take(const choice& c) {
  switch (c.what) {
    case step::fetch:
      return fetch();
    case step::gather:
      return gather(under_way_[c.entry]);
    case step::land: {
      work& w = under_way_[c.entry];
      const piece p = w.pieces[c.piece];
      w.pieces[c.piece] = w.pieces.back();
      w.pieces.pop_back();
      return land(w, p);
    }
    case step::complete:
      return complete();
    case step::look_at_doorbell:
    case step::look_at_record:
      (void)look(c.what);
  }
}

bool card_queue::serve() {
  bool any = look(step::look_at_record);
  while (true) {
    for (; landed_ < under_way_.size(); ++landed_) {
      carry_out(landed_);
      any = true;
    }
    for (; may_complete(); any = true) complete();
    if (fetched_ == told_) return any;
    fetch();
  }
}

// All before it has landed.
void card_queue::carry_out(std::size_t entry) {
  work& w = under_way_[entry];
  const order& o = w.what;
  if (!w.gathered && o.carries && memory_.piece(o.bytes) == o.bytes) {
    w.gathered = true;
    return memory_.scatter(name_of(w), reinterpret_cast<void*>(o.remote), o.data, o.bytes);
  }
  if (!w.gathered) gather(w);
  for (const piece& p : w.pieces) land(w, p);
  w.pieces.clear();
}

void card_queue::fetch() {
  const entry e = memory_.fetch({s_.number, fetched_}, s_.ring[fetched_ & (s_.depth - 1)]);
  work& w = under_way_.emplace_back();
  const bool whole = parsed(e, w.what);
  w.result = failed_ ? status::flushed : judge(w.what, whole, {s_.number, fetched_}, s_.memory);
  if (w.result == status::ok && memory_.lost(s_.number)) w.result = status::retry_exceeded;
  if (w.result != status::ok) {
    failed_ = true;
    w.gathered = true;        // and nothing to write
    w.what.index = fetched_;  // what its completion is about
  }
  ++fetched_;
}

// Writes may land before those that came earlier, but not before an entry that comes after all before it, nor may that
// one go while there are others.
bool card_queue::may_start(std::size_t entry) const {
  bool earlier = false;
  for (std::size_t i = 0; i <= entry; ++i) {
    if (earlier && under_way_[i].after_all()) return false;
    earlier = earlier || !under_way_[i].landed();
  }
  return true;
}

void card_queue::gather(work& w) {
  w.gathered = true;
  const order& o = w.what;
  if (is_atomic(o.what)) {
    do_atomic(w);
    w.data.resize(o.bytes);
    std::memcpy(w.data.data(), &w.answer, o.bytes);
    w.pieces.push_back({o.local, 0, o.bytes});
    return;
  }
  const std::uint64_t to = o.what == opcode::write ? o.remote : o.local;
  const auto* from = reinterpret_cast<const void*>(o.what == opcode::write ? o.local : o.remote);
  if (!o.carries && memory_.move(name_of(w), reinterpret_cast<void*>(to), from, o.bytes)) return;
  w.data.resize(o.bytes);
  if (o.carries)
    std::memcpy(w.data.data(), o.data, o.bytes);
  else
    memory_.gather(name_of(w), from, w.data.data(), o.bytes);
  for (std::size_t begin = 0; begin < o.bytes;) {
    const std::size_t n = std::min<std::size_t>(memory_.piece(o.bytes - begin), o.bytes - begin);
    w.pieces.push_back({to + begin, begin, n});
    begin += n;
  }
}

// The peer knows an operation that it has done already, and answers as before.
void card_queue::do_atomic(work& w) {
  if (!w.done_at_peer) w.answer = memory_.change(name_of(w), reinterpret_cast<void*>(w.what.remote), w.what);
  w.done_at_peer = true;
}

bool card_queue::retry() {
  for (work& w : under_way_) {
    if (!is_atomic(w.what.what) || !w.gathered || w.result != status::ok) continue;
    do_atomic(w);
    return true;
  }
  return false;
}

void card_queue::land(const work& w, const piece& p) {
  memory_.scatter(name_of(w), reinterpret_cast<void*>(p.to), w.data.data() + p.begin, p.bytes);
}

void card_queue::complete() {
  const work w = std::move(under_way_.front());
  under_way_.pop_front();
  if (landed_ > 0) --landed_;
  memory_.done(name_of(w));
  if (w.result == status::ok && (w.what.flags & wants_completion) == 0) return;
  const completion c = completion_of(w.what, w.result, s_.number, owner_of(completions_, s_.depth));
  memory_.complete(name_of(w), s_.completions[completions_ & (s_.depth - 1)], c);
  ++completions_;
}

}  // namespace starling::network
