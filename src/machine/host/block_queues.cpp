#include "block_queues.hpp"

#include "../context_numbers.hpp"

namespace starling::host {

// The way of this process to the card: direct, and the card is woken when a doorbell rings.
class block_queues::bus : public network::direct_bus {
 public:
  bus(block_queues& all, queue& q) : all_(all), q_(q), trace_(all.program_.state(all.pe_), all.block_) {}

  void tell(std::uint64_t& to, std::uint64_t value) const;
  void reserved(const network::queue_pair& q, std::uint64_t first, std::uint64_t n) const;
  bool pause(const network::queue_pair& q) const;

  std::uint64_t begin_post() const { return trace_.begin_post(); }
  void posted(const network::queue_pair& q, std::uint64_t first, const network::order* orders, std::uint64_t n,
              std::uint64_t begin) const {
    trace_.posted(q, first, orders, n, begin);
  }
  void answered(const network::queue_pair& q) const { trace_.answered(q); }

 private:
  block_queues& all_;
  queue& q_;
  network::card_trace trace_;
};

struct block_queues::queue {
  explicit queue(std::unique_ptr<open_queue> made) : open(std::move(made)), origins(open->pair().depth) {}

  const network::queue_pair& pair() const { return open->pair(); }

  std::unique_ptr<open_queue> open;
  std::vector<origin> origins;  // by slot
  origin now;
};

block_queues::block_queues(running& program, int pe, int block) : program_(program), pe_(pe), block_(block) {}
block_queues::~block_queues() = default;

void block_queues::bus::tell(std::uint64_t& to, std::uint64_t value) const {
  direct_bus::tell(to, value);
  if (&to == q_.pair().doorbell) q_.open->card().ring();
}

void block_queues::bus::reserved(const network::queue_pair& q, std::uint64_t first, std::uint64_t n) const {
  for (std::uint64_t i = first; i < first + n; ++i) q_.origins[i & (q.depth - 1)] = q_.now;
}

// Until there is a completion.
bool block_queues::bus::pause(const network::queue_pair& q) const {
  run_group& group = all_.program_.group();
  const auto limit = clock::now() + std::chrono::duration_cast<clock::duration>(
                                        std::chrono::duration<double>(all_.program_.deadline_seconds()));
  const std::uint64_t number = q.state->polled;
  std::uint64_t& last = q.completions[number & (q.depth - 1)].word[7];
  const auto came = [&] {
    return network::is_new(network::big_endian(std::atomic_ref(last).load()), number, q.depth) || group.ended.load();
  };
  const bool ready = group.lot.wait(&last, limit, came);
  if (ready && !group.ended.load()) return true;
  block_report r;
  r.pe = all_.pe_;
  r.block = all_.block_;
  r.state = ready ? block_state::waiting : block_state::expired;
  r.op = operation::quiet;
  r.peer = q.peer;
  set_place(r, q_.now.at);
  all_.program_.fail(r);
}

block_queues::queue& block_queues::to(int context, int peer) {
  std::unique_ptr<queue>& q = queues_[{context, peer}];
  if (!q) q = std::make_unique<queue>(program_.group().network->open(pe_, peer));
  return *q;
}

template <class F>
void block_queues::call(int context, int peer, operation op, where at, const F& f) {
  queue& q = to(context, peer);
  q.now = {op, at};
  bus b(*this, q);
  if (!f(network::carrier<bus>(q.pair(), b))) fail(q);
}

void block_queues::fail(const queue& q) const {
  const network::queue_state& s = *q.pair().state;
  const origin& o = q.origins[s.failed & (q.pair().depth - 1)];
  block_report r;
  r.pe = pe_;
  r.block = block_;
  r.state = block_state::network_failed;
  r.op = o.op;
  r.peer = q.pair().peer;
  r.wanted = s.error;
  r.seen = s.failed;
  set_place(r, o.at);
  program_.fail(r);
}

// Null: it is not copied.
const std::byte* block_queues::copied(queue& q, const transfer& t) {
  if (!t.blocking || t.count <= 0 || t.dest_stride != 1 || t.source_stride != 1) return nullptr;
  const std::size_t bytes = static_cast<std::size_t>(t.count) * t.element;
  if (bytes <= network::inline_bytes || bytes > source_copies::most_bytes) return nullptr;
  const network::queue_state& s = *q.pair().state;
  source_copies& copies = q.open->copies();
  if (const std::byte* copy = copies.take(t.source, bytes, s.completed)) return copy;
  bus b(*this, q);
  while (network::sender<bus>(q.pair(), b).poll()) {
  }
  return copies.take(t.source, bytes, s.completed);
}

template <class F>
void block_queues::call_put(const transfer& t, const F& f) {
  queue& q = to(t.context, t.pe);
  const std::byte* copy = copied(q, t);
  if (copy == nullptr) return call(t.context, t.pe, operation::put, t.at, [&](const auto& c) { return f(c, t); });
  transfer of_copy = t;
  of_copy.source = copy;
  of_copy.blocking = false;
  call(t.context, t.pe, operation::put, t.at, [&](const auto& c) { return f(c, of_copy); });
  q.open->copies().used_before(q.pair().state->reserved);
}

void block_queues::put(const transfer& t) {
  call_put(t, [](const auto& c, const transfer& made) { return c.put(made); });
}

void block_queues::put_signal(const transfer& t, const signal_update& s) {
  call_put(t, [&](const auto& c, const transfer& made) { return c.put_signal(made, s); });
}

void block_queues::get(const transfer& t) {
  call(t.context, t.pe, operation::get, t.at, [&](const auto& c) { return c.get(t); });
}

void block_queues::update(const signal_update& s) {
  call(s.context, s.pe, operation::put, s.at, [&](const auto& c) { return c.signal(s); });
}

void block_queues::atomic(const atomic_call& a) {
  call(a.context, a.pe, operation::atomic, a.at, [&](const auto& c) { return c.atomic(a); });
}

void block_queues::fence(int context) {
  for (auto& [key, q] : queues_)
    if (network::is_about(context, key.first)) {
      bus b(*this, *q);
      network::carrier<bus>(q->pair(), b).fence();
    }
}

void block_queues::quiet(int context) {
  for (auto& [key, q] : queues_) {
    if (!network::is_about(context, key.first)) continue;
    bus b(*this, *q);
    if (!network::carrier<bus>(q->pair(), b).quiet()) fail(*q);
  }
}

void block_queues::quiet_all() { quiet(any_context); }

bool block_queues::failed() {
  bool any = false;
  for (auto& [key, q] : queues_) {
    bus b(*this, *q);
    const network::sender<bus> answers(q->pair(), b);
    while (answers.poll()) {
    }
    any = any || answers.failed();
  }
  return any;
}

void block_queues::check() const {
  for (const auto& [key, q] : queues_)
    if (q->pair().state->error != 0) fail(*q);
}

void block_queues::lose(int context, int peer) {
  queue& q = to(context, peer);
  q.open->card().lose(q.pair().number);
}

}  // namespace starling::host
