// The part of cards that blocks call: a block's end of its queue pairs.
#include <utility>

#include "cards.hpp"
#include "describe.hpp"

namespace starling::check {

// A block's way to the memory that it shares with a card.
class cards::bus : public wire::records_nothing {
 public:
  bus(cards& all, queue& q) : all_(all), q_(q) {}

  void store(std::uint64_t& to, std::uint64_t value) const {
    const auto* word = reinterpret_cast<const std::byte*>(&to);
    const auto* ring = reinterpret_cast<const std::byte*>(q_.pair().ring);
    const auto slot = static_cast<std::uint64_t>((word - ring) / static_cast<std::ptrdiff_t>(sizeof(wire::entry)));
    const std::uint64_t now = q_.number_in(slot);
    if (now >= q_.first + q_.pair().depth && now - q_.pair().depth >= q_.done)
      all_.fail(q_, now - q_.pair().depth,
                message("its slot is written again, by ", all_.entry_text(q_, now), ", before it is complete"));
    to = value;
    q_.dirty.push_back(&to);
  }
  void tell(std::uint64_t& to, std::uint64_t value) const {
    const wire::queue_pair& p = q_.pair();
    if (&to == p.completion_record) {
      to = value;
      return;
    }
    const bool bell = &to == p.doorbell;
    const std::uint64_t said = wire::big_endian(value);
    all_.check_told(q_, bell ? (said >> 40) + 1 : said, bell ? "doorbell" : "doorbell record");
    to = value;
    if (!bell) {
      q_.dirty.push_back(&to);
      all_.events_.turns_of_cards();
      return;
    }
    if (!all_.canonical_ && all_.random_.chance(48)) return;  // lost
    q_.doorbell = value;
    q_.rung = true;
  }
  void release() const { all_.release(q_); }
  void lock_staging() const {}
  void unlock_staging() const {}
  std::uint64_t load(std::uint64_t& from) const { return from; }
  template <class Word>
  Word take(Word& word, Word n) const {
    const Word old = word;
    word += n;
    return old;
  }
  template <class Word>
  Word look(Word& word) const {
    return word;
  }
  template <class Word>
  void set(Word& word, Word value) const {
    word = value;
  }
  template <class Word>
  Word exchange(Word& word, Word value) const {
    return std::exchange(word, value);
  }

  void reserved(const wire::queue_pair&, std::uint64_t first, std::uint64_t n) const {
    if (q_.entries.empty()) q_.oldest = first;
    for (std::uint64_t i = 0; i < n; ++i) q_.entries.push_back(q_.now);
  }
  bool pause(const wire::queue_pair&) const {
    q_.waiting = true;
    all_.events_.wait_for_card(*q_.from);
    q_.waiting = false;
    return true;
  }

 private:
  cards& all_;
  queue& q_;
};

template <class F>
void cards::call(queue& q, const posted& p, const F& f) {
  while (q.oldest < q.done && !q.entries.empty()) {
    q.entries.pop_front();
    ++q.oldest;
  }
  q.now = p;
  bus way(*this, q);
  (void)f(wire::carrier<bus>(q.pair(), way));
  q.now = {};
}

void cards::put(scheduled_block& a, const transfer& t, const signal_update* s, outstanding_operation& op) {
  queue& q = to(a, t.context, t.pe);
  ++q.out;
  call(q, {&op, nullptr, s != nullptr ? "put_signal" : "put", t.at, t.blocking},
       [&](const auto& c) { return s != nullptr ? c.put_signal(t, *s) : c.put(t); });
}

void cards::get(scheduled_block& a, const transfer& t, outstanding_operation& op) {
  queue& q = to(a, t.context, t.pe);
  ++q.out;
  call(q, {&op, nullptr, "get", t.at, t.blocking, true}, [&](const auto& c) { return c.get(t); });
}

void cards::signal(scheduled_block& a, const signal_update& s, outstanding_operation& op) {
  queue& q = to(a, s.context, s.pe);
  ++q.out;
  call(q, {&op, nullptr, "signal", s.at}, [&](const auto& c) { return c.signal(s); });
}

void cards::atomic(scheduled_block& a, const atomic_call& c, const atomic_done& done) {
  call(to(a, c.context, c.pe), {nullptr, &done, "atomic", c.at}, [&](const auto& way) { return way.atomic(c); });
}

void cards::fence(const scheduled_block& a, int context) {
  for (const auto& q : queues_) {
    if (q->from != &a || !wire::is_about(context, q->context)) continue;
    bus way(*this, *q);
    wire::carrier<bus>(q->pair(), way).fence();
  }
}

void cards::quiet(scheduled_block& a, int context) {
  for (std::size_t i = 0; i < queues_.size(); ++i) {  // others may be made meanwhile
    queue& q = *queues_[i];
    if (q.from != &a || !wire::is_about(context, q.context)) continue;
    bus way(*this, q);
    (void)wire::carrier<bus>(q.pair(), way).quiet();
  }
  for (const auto& q : queues_)
    if (q->from == &a && (context == any_context || context == q->context) &&
        (q->out != 0 || q->done != q->pair().state->reserved))
      fail(*q, q->done, "quiet of its context has returned before it is complete");
}

}  // namespace starling::check
