#include "cards.hpp"

#include <algorithm>
#include <cstring>

#include "describe.hpp"

namespace starling::check {

// ---- queues ----

void cards::reset(bool canonical) {
  queues_.clear();
  numbers_.clear();
  canonical_ = canonical;
}

cards::queue& cards::to(scheduled_block& a, int context, int peer) {
  std::uint32_t& number = numbers_[{a.number, context, peer}];
  if (number != 0) return queue_of(number);
  queues_.push_back(std::make_unique<queue>());
  number = static_cast<std::uint32_t>(queues_.size());
  queue& q = *queues_.back();
  q.from = &a;
  q.context = context;
  q.peer = peer;
  // Indices that wrap soon are as good as any.
  constexpr std::uint64_t wrap = 65536;
  q.first = canonical_ ? 0 : random_.chance(128) ? wrap - 1 - random_.below(8) : random_.below(wrap);
  q.memory = std::make_unique<wire::queue_memory>(setting_->regions, setting_->pes, number, setting_->depth, a.pe, peer,
                                                  q.first);
  q.card = std::make_unique<wire::card_queue>(wire::setup_of(q.pair(), q.first), *this);
  q.done = q.oldest = q.first;
  q.ring.assign(q.pair().ring, q.pair().ring + q.pair().depth);
  q.ahead.resize(q.pair().depth);
  q.record = *q.pair().record;
  return q;
}

std::string cards::entry_text(queue& q, std::uint64_t number) {
  const posted* p = q.entry_at(number);
  const std::string entry = message("entry ", number & 0xffff, " of ", block_text(*q.from), " to PE ", q.peer);
  return p == nullptr ? entry + ", which it has not posted"
                      : message(entry, " (", p->what, " at ", p->at.file, ":", p->at.line, ")");
}

void cards::fail(queue& q, std::uint64_t number, const std::string& text) {
  events_.found_by_card({defect::network, message(entry_text(q, number), ": ", text), {q.from->number}});
}

// ---- what the card sees ----

void cards::show(queue& q, std::uint64_t* word) {
  if (word == q.pair().record) {
    q.record = *word;
    return;
  }
  const auto i = static_cast<std::size_t>(word - q.pair().ring[0].word);
  q.ring[i / 8].word[i % 8] = *word;
}

// Everything stored so far by the block, on all its queues.
void cards::release(queue& of) {
  for (const auto& q : queues_) {
    if (q->from != of.from) continue;
    for (std::uint64_t* word : q->dirty) show(*q, word);
    q->dirty.clear();
    for (auto& line : q->ahead) line.reset();
    for (posted& p : q->entries) p.released = true;
  }
}

// A doorbell or a record may tell of whole entries alone.
void cards::check_told(queue& q, std::uint64_t end, const char* by) {
  const std::uint64_t last = wire::unwrapped(q.done, static_cast<std::uint16_t>(end - 1));
  for (std::uint64_t n = q.done; n <= last && last - q.done < q.pair().depth; ++n) {
    wire::order o;
    const bool whole = wire::parsed(q.pair().ring[n & (q.pair().depth - 1)], o);
    if (q.entry_at(n) == nullptr || !whole || o.index != static_cast<std::uint16_t>(n))
      return fail(q, n, message("the ", by, " tells the card of it before it is written (it has index ", o.index, ")"));
  }
}

wire::entry cards::fetch(const wire::entry_name& of, const wire::entry& place) {
  queue& q = queue_of(of.queue);
  const auto slot = static_cast<std::size_t>(&place - q.pair().ring);
  const wire::entry e = q.ahead[slot].value_or(q.ring[slot]);
  q.ahead[slot].reset();
  const std::size_t next = (slot + 1) & (q.pair().depth - 1);
  if (!canonical_ && random_.chance(128)) q.ahead[next] = q.ring[next];
  const std::uint64_t number = q.number_of(of.index);
  if (std::memcmp(&e, &place, sizeof e) != 0) {
    fail(q, number, "the card has fetched bytes of it that were not released");
  } else if (wire::order o; wire::parsed(e, o) && o.index != of.index) {
    fail(q, number, message("the card has fetched index ", o.index, " in its place"));
  }
  return e;
}

std::uint64_t cards::look(const std::uint64_t& word) {
  for (const auto& q : queues_) {
    if (&word == q->pair().record) return q->record;
    if (&word == q->pair().doorbell) return q->doorbell;
  }
  return word;
}

// ---- what the card does ----

void cards::gather(const wire::entry_name& of, const void* from, void* to, std::size_t bytes) {
  queue& q = queue_of(of.queue);
  const std::uint64_t number = q.number_of(of.index);
  const posted* p = q.entry_at(number);
  if (p != nullptr && !p->released) fail(q, number, "the card reads its source, which was not released");
  if (p != nullptr && p->blocking && !p->get && p->op != nullptr && q.now.op != p->op)
    fail(q, number, "the card reads its source after the call has given that back");
  std::memcpy(to, from, bytes);
}

void cards::scatter(const wire::entry_name& of, void* to, const void* from, std::size_t bytes) {
  queue& q = queue_of(of.queue);
  const std::uint64_t number = q.number_of(of.index);
  const posted* p = q.entry_at(number);
  if (p == nullptr || p->op == nullptr) {  // what an atomic operation gives
    std::memcpy(to, from, bytes);
    return;
  }
  outstanding_operation& op = *p->op;
  if (op.raises && to == op.update.target) {
    std::uint64_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return raise(q, number, op, value);
  }
  check_fenced(q, number, op);
  const bool of_get = p->get;
  network::delivery d;
  d.released_by_data = network_.land(op, to, from, bytes);
  if (op.left == 0 && !op.raises) {
    d.completed = q.from;
    finish(q, op);
  }
  if (!of_get) events_.delivered_by_card(d);  // what a block gets is news to nobody else
}

void cards::check_fenced(queue& q, std::uint64_t number, const outstanding_operation& op) {
  if (op.epoch > q.from->epochs_to(op.pe, op.context).oldest)
    fail(q, number, "it lands before what was fenced before it");
}

void cards::raise(queue& q, std::uint64_t number, outstanding_operation& op, std::uint64_t value) {
  check_fenced(q, number, op);
  if (op.left != 0) fail(q, number, "its signal is seen before its data");
  network::delivery d = network_.raise(op, value);
  d.completed = q.from;
  finish(q, op);
  events_.delivered_by_card(d);
}

std::uint64_t cards::change(const wire::entry_name& of, void* word, const wire::order& what) {
  queue& q = queue_of(of.queue);
  const std::uint64_t number = q.number_of(of.index);
  posted* p = q.entry_at(number);
  std::uint64_t before = 0;
  std::memcpy(&before, word, what.bytes);
  if (p == nullptr || p->applied) {
    fail(q, number, "its atomic operation is done twice");
    return before;
  }
  p->applied = true;
  if (p->atomic != nullptr && q.now.atomic != p->atomic) {
    fail(q, number, "the card does it after the call that waits for it has returned");
    return before;
  }
  std::uint64_t after = before;
  if (what.what == wire::opcode::fetch_add) after = before + what.operand;
  if (what.what == wire::opcode::compare_swap && before == what.compare) after = what.operand;
  if (p->op != nullptr) {
    raise(q, number, *p->op, after);
  } else {
    std::memcpy(word, &after, what.bytes);
    const bool stored = what.what == wire::opcode::fetch_add ? what.operand != 0 : before == what.compare;
    if (p->atomic != nullptr) (*p->atomic)(before, after, stored);
  }
  return before;
}

void cards::complete(const wire::entry_name& of, wire::completion& place, const wire::completion& value) {
  queue& q = queue_of(of.queue);
  const std::uint64_t seen = wire::big_endian(*q.pair().completion_record);
  if (q.completions - seen >= q.pair().depth)
    fail(q, q.done - 1, "its completion overruns one that the block has not seen");
  if (wire::is_error(wire::big_endian(value.word[7])))
    fail(q, q.done - 1,
         message("the card could not do it: ", wire::name(wire::status_of(wire::big_endian(value.word[6])))));
  wire::order o;
  const posted* p = q.entry_at(q.done - 1);
  if (p != nullptr && wire::parsed(q.pair().ring[(q.done - 1) & (q.pair().depth - 1)], o) &&
      (o.flags & wire::wants_completion) == 0)
    fail(q, q.done - 1, "it gets a completion without having asked for one");
  place = value;
  ++q.completions;
  if (q.waiting) events_.ready_by_card(*q.from);
}

void cards::done(const wire::entry_name& of) {
  queue& q = queue_of(of.queue);
  ++q.done;
  q.retried = false;
}

std::size_t cards::piece(std::size_t left) {
  if (canonical_) return left;
  constexpr std::size_t least = 64;
  return least + 8 * random_.below(25);
}

void cards::finish(queue& q, outstanding_operation& op) {
  --q.out;
  for (posted& p : q.entries)
    if (p.op == &op) p.op = nullptr;
  network_.finish(op);
}

// ---- turns of cards ----

void cards::collect(std::vector<possible>& all) {
  std::vector<wire::card_queue::choice> choices;
  for (const auto& q : queues_) {
    for (std::size_t i = 0; i < q->dirty.size(); ++i) all.push_back({q.get(), possible::kind::show, i});
    if (q->rung) all.push_back({q.get(), possible::kind::doorbell});
    const auto next = static_cast<std::uint16_t>(wire::big_endian(q->record));
    if (next != q->card->told() && static_cast<std::uint16_t>(next - q->card->told()) <= q->pair().depth)
      all.push_back({q.get(), possible::kind::record});
    choices.clear();
    q->card->choices(choices);
    for (const auto& c : choices) all.push_back({q.get(), possible::kind::work, 0, c});
  }
}

bool cards::idle() {
  if (queues_.empty()) return true;
  steps_.clear();
  collect(steps_);
  return steps_.empty();
}

bool cards::settled() const {
  return std::all_of(queues_.begin(), queues_.end(), [](const auto& q) { return q->out == 0; });
}

// After idle() has said no.
void cards::step() {
  const possible p = steps_[canonical_ ? 0 : random_.below(steps_.size())];
  queue& q = *p.of;
  if (!canonical_ && !q.retried && random_.chance(32)) q.retried = q.card->retry();
  using step = wire::card_queue::step;
  switch (p.what) {
    case possible::kind::show:
      show(q, q.dirty[p.word]);
      q.dirty[p.word] = q.dirty.back();
      q.dirty.pop_back();
      return;
    case possible::kind::doorbell:
      q.rung = false;
      (void)q.card->look(step::look_at_doorbell);
      return;
    case possible::kind::record:
      (void)q.card->look(step::look_at_record);
      return;
    case possible::kind::work:
      q.card->take(p.choice);
  }
}

std::optional<finding> cards::stuck() const {
  for (const auto& q : queues_) {
    if (!q->waiting) continue;
    const wire::queue_state& s = *q->pair().state;
    const std::string what =
        q->done < s.reserved ? message("the card does not learn of it: neither a doorbell nor the record tells of it")
                             : message("the card has completed it, and the block does not see the completion");
    return finding{defect::network,
                   message(entry_text(*q, q->done < s.reserved ? q->done : s.completed), ": ", what, "; ",
                           block_text(*q->from), " waits for it for ever"),
                   {q->from->number}};
  }
  return std::nullopt;
}

}  // namespace starling::check
