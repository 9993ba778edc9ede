#include "far_memory.hpp"

#include <algorithm>

#include "end_flag.hpp"

namespace starling {
namespace {

using clock = std::chrono::steady_clock;

constexpr message_kind kinds[] = {message_kind::put,       message_kind::put_apart, message_kind::put_came,
                                  message_kind::applied,   message_kind::get,       message_kind::got,
                                  message_kind::got_apart, message_kind::got_came,  message_kind::change,
                                  message_kind::changed,   message_kind::ended};

std::uint64_t key_of(const network::entry_name& e) { return std::uint64_t{e.queue} << 16 | e.index; }

// f(first byte, bytes) for each part of at most so many.
template <class F>
void for_each_part(std::size_t bytes, std::size_t most, const F& f) {
  for (std::size_t at = 0; at < bytes; at += most) f(at, std::min(most, bytes - at));
}

}  // namespace

far_memory::far_memory(engine_group& group, near_memory& own, std::byte* start, index_t stride, int pes,
                       std::shared_ptr<const void> memory, std::atomic<std::uint64_t>& ended)
    : group_(group),
      messages_(group.messages()),
      own_(own),
      start_(start),
      stride_(stride),
      pes_(pes),
      memory_(std::move(memory)),
      ended_(ended) {
  const auto n = static_cast<std::size_t>(group.size());
  for (auto* counts : {&sent_, &known_, &done_, &told_, &bytes_}) counts->resize(n);
  const std::vector<int>& hosts = group.hosts();
  for (int p = 0; p < group.size(); ++p)
    if (hosts[static_cast<std::size_t>(p)] != hosts[static_cast<std::size_t>(group.rank())]) others_.push_back(p);
  handle_all();
}

far_memory::~far_memory() {
  for (const message_kind k : kinds) messages_.handle(k, {});
}

void far_memory::handle_all() {
  handle_puts();
  handle_questions();
  messages_.handle(message_kind::ended, [this](int, const message_view& m) {
    told_ended_ = std::max(told_ended_, m.head.number);
    end_flag::raise(ended_, m.head.number);
    own_.wake_all();
  });
}

void far_memory::handle_puts() {
  messages_.handle(message_kind::put, [this](int from, const message_view& m) {
    own_.store(own_at(m.head), m.data, m.bytes);
    if (m.head.number != 0) done_[static_cast<std::size_t>(from)] = m.head.number;
  });
  messages_.handle(message_kind::put_apart, [this](int from, const message_view& m) {
    message_head then = m.head;
    then.kind = message_kind::put_came;
    messages_.receive_data(from, {own_at(m.head), m.head.bytes, memory_}, then);
  });
  messages_.handle(message_kind::put_came, [this](int from, const message_view& m) {
    own_.written(own_at(m.head), m.head.bytes);
    done_[static_cast<std::size_t>(from)] = m.head.number;
  });
  messages_.handle(message_kind::applied, [this](int from, const message_view& m) {
    std::uint64_t& known = known_[static_cast<std::size_t>(from)];
    const std::lock_guard lock(mutex_);
    unconfirmed_ -= m.head.number - known;
    known = m.head.number;
    if (unconfirmed_ == 0) answered_.notify_all();
  });
}

void far_memory::handle_questions() {
  messages_.handle(message_kind::get, [this](int from, const message_view& m) { answer_get(from, m.head); });
  messages_.handle(message_kind::change, [this](int from, const message_view& m) {
    message_head h = m.head;
    h.kind = message_kind::changed;
    h.operand = own_.change(own_at(m.head), static_cast<word_change>(m.head.operation), m.head.bytes, m.head.operand,
                            m.head.compare);
    if (!own_.failed()) messages_.send(from, h);
  });
  messages_.handle(message_kind::got_apart, [this](int from, const message_view& m) {
    message_head then = m.head;
    then.kind = message_kind::got_came;
    messages_.receive_data(from, place_of_answer(m.head.number, m.head.bytes), then);
  });
  for (const message_kind k : {message_kind::got, message_kind::got_came, message_kind::changed})
    messages_.handle(k, [this](int, const message_view& m) { answer(m.head.number, m); });
}

// All that its sender has put before is there then.
void far_memory::answer_get(int from, message_head h) {
  h.kind = h.operation == 0 ? message_kind::got : message_kind::got_apart;
  if (h.operation != 0) return send_apart(from, h, own_at(h));
  if (own_.engine_reaches()) return messages_.send(from, h, own_at(h), h.bytes);
  own_.settle();
  message_bytes data(h.bytes);
  own_.load(data.data(), own_at(h), h.bytes);
  if (!own_.failed()) messages_.send(from, h, data.data(), h.bytes);
}

bool far_memory::holds(const void* address) const {
  const auto from_start = static_cast<const std::byte*>(address) - start_;
  if (from_start < 0 || from_start >= stride_ * pes_ * group_.size()) return false;
  const auto& hosts = group_.hosts();
  return hosts[static_cast<std::size_t>(place_of(address).process)] != hosts[static_cast<std::size_t>(group_.rank())];
}

far_memory::place far_memory::place_of(const void* address) const {
  const auto from_start = static_cast<const std::byte*>(address) - start_;
  const auto pe = static_cast<std::int32_t>(from_start / stride_);
  return {pe / pes_, pe, static_cast<std::uint64_t>(from_start % stride_)};
}

message_head far_memory::head_for(message_kind kind, const place& where, std::size_t bytes) const {
  message_head h{kind, where.pe, where.offset};
  h.bytes = bytes;
  return h;
}

message_head far_memory::head_for(const place& where, const word_order& o, std::uint64_t number) const {
  message_head h = head_for(message_kind::change, where, o.bytes);
  h.operation = static_cast<std::uint64_t>(o.what);
  h.operand = o.operand;
  h.compare = o.compare;
  h.number = number;
  return h;
}

void far_memory::count(int process, std::size_t bytes, std::uint64_t puts) {
  const std::lock_guard lock(mutex_);
  bytes_[static_cast<std::size_t>(process)] += bytes;
  unconfirmed_ += puts;
}

void far_memory::await_confirmed(double seconds) {
  const auto most = clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
  std::unique_lock lock(mutex_);
  while (unconfirmed_ > 0 && clock::now() < most) {
    (void)answered_.wait_for(lock, std::chrono::milliseconds(10));
    lock.unlock();
    const bool lost = group_.has_lost();
    lock.lock();
    if (lost) return;
  }
}

std::vector<std::uint64_t> far_memory::sent_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void far_memory::put(const network::entry_name& of, void* to, const void* from, std::size_t bytes) {
  for_each_part(bytes, most_at_once(), [&](std::size_t at, std::size_t n) {
    const place where = place_of(static_cast<std::byte*>(to) + at);
    const auto* data = static_cast<const std::byte*>(from) + at;
    message_head h = head_for(message_kind::put, where, n);
    h.number = ++sent_[static_cast<std::size_t>(where.process)];
    puts_[key_of(of)] = {where.process, h.number};
    count(where.process, n, 1);
    if (!goes_apart(n)) return send_put(h, where.process, data);
    h.kind = message_kind::put_apart;
    send_apart(where.process, h, data);
  });
}

// Words that go side by side, one after the other, land so: together they are one message. Not where each must be
// stored by itself to be seen in its turn.
void far_memory::send_put(const message_head& h, int process, const std::byte* data) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  const auto goes_on = [&](message_head& last) {
    const std::size_t both = last.bytes + h.bytes;
    if (!own_.engine_reaches() || last.kind != message_kind::put || last.number == 0 || last.pe != h.pe) return false;
    if (last.offset + last.bytes != h.offset || both > near_memory::whole_bytes) return false;
    if (last.offset % word != 0 || last.bytes % word != 0 || h.bytes % word != 0) return false;
    last.bytes = both;
    last.number = h.number;
    return true;
  };
  if (!messages_.extend(process, goes_on, data, h.bytes)) messages_.send(process, h, data, h.bytes);
}

void far_memory::send_apart(int process, const message_head& h, const std::byte* data) {
  messages_.send(process, h);
  messages_.send_data(process, {const_cast<std::byte*>(data), h.bytes, memory_});
}

bool far_memory::settled(const network::entry_name& of) {
  const auto last = puts_.find(key_of(of));
  if (last == puts_.end()) return true;
  if (known_[static_cast<std::size_t>(last->second.process)] < last->second.number) return false;
  puts_.erase(last);
  return true;
}

bool far_memory::tell() {
  bool any = false;
  if (told_ != done_) own_.settle();
  for (std::size_t p = 0; p < done_.size(); ++p) {
    if (told_[p] == done_[p] || own_.failed()) continue;
    told_[p] = done_[p];
    message_head h{message_kind::applied};
    h.number = done_[p];
    messages_.send(static_cast<int>(p), h);
    any = true;
  }
  const std::uint64_t ended = ended_.load();
  if (ended <= told_ended_) return any;
  told_ended_ = ended;
  message_head h{message_kind::ended};
  h.number = ended;
  for (const int p : others_) messages_.send(p, h);
  return true;
}

std::uint64_t far_memory::ask(question& q) {
  const std::lock_guard lock(mutex_);
  questions_[++next_] = &q;
  return next_;
}

void far_memory::answer(std::uint64_t number, const message_view& m) {
  const std::lock_guard lock(mutex_);
  const auto asked = questions_.find(number);
  if (asked == questions_.end()) return;  // who asked has given up
  question& q = *asked->second;
  if (m.bytes > 0) std::memcpy(q.to, m.data, m.bytes);
  q.value = m.head.operand;
  q.answered = true;
  questions_.erase(asked);
  answered_.notify_all();
}

// Where nobody waits for it any more: to memory of its own.
data_range far_memory::place_of_answer(std::uint64_t number, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto asked = questions_.find(number);
  if (asked != questions_.end()) return {static_cast<std::byte*>(asked->second->to), bytes, memory_};
  const auto nowhere = std::make_shared<std::vector<std::byte>>(bytes);
  return {nowhere->data(), bytes, nowhere};
}

clock::time_point far_memory::limit() const {
  return clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(group_.deadline()));
}

void far_memory::forget(const question& q) {
  std::erase_if(questions_, [&](const auto& asked) { return asked.second == &q; });
}

// Until there is an answer, doing for others what they ask for meanwhile. Who gives none is lost, which ends all
// programs: nobody goes on with what was not read.
void far_memory::wait_here(const question& q, int process) {
  const auto most = limit();
  const auto over = [&] {
    const std::lock_guard lock(mutex_);
    return q.answered;
  };
  while (!over() && !group_.has_lost()) {
    if (clock::now() >= most) group_.give_up_on(process);
    if (!messages_.progress()) std::this_thread::yield();
    (void)tell();
  }
  const std::lock_guard lock(mutex_);
  forget(q);
}

void far_memory::wait(const question& q, int process, const char* call) {
  const auto most = limit();
  const messenger::awaited soon(messages_);
  std::unique_lock lock(mutex_);
  while (!q.answered) {
    (void)answered_.wait_for(lock, std::chrono::milliseconds(50));
    if (q.answered) return;
    lock.unlock();
    const bool over = group_.has_lost() || clock::now() >= most;
    lock.lock();
    if (!over || q.answered) continue;
    forget(q);
    lock.unlock();
    group_.expect_alive(call);
    throw process_error(message(call, ": process ", process, " of ", group_.size(), " has not answered within ",
                                group_.deadline(), " s; see what it does, or raise STARLING_MEETING_DEADLINE"));
  }
}

void far_memory::get(void* to, const void* from, std::size_t bytes) {
  for_each_part(bytes, most_at_once(), [&](std::size_t at, std::size_t n) {
    const place where = place_of(static_cast<const std::byte*>(from) + at);
    question q{static_cast<std::byte*>(to) + at};
    message_head h = head_for(message_kind::get, where, n);
    h.operation = goes_apart(n) ? 1 : 0;
    h.number = ask(q);
    messages_.send(where.process, h);
    wait_here(q, where.process);
  });
}

std::uint64_t far_memory::change(void* word, const network::order& what) {
  const place where = place_of(word);
  question q;
  const word_order o{static_cast<word_change>(what.what), what.bytes, what.operand, what.compare};
  messages_.send(where.process, head_for(where, o, ask(q)));
  wait_here(q, where.process);
  return q.value;
}

std::uint64_t far_memory::change(void* word, const word_order& o, const char* call) {
  const place where = place_of(word);
  question q;
  messages_.post(where.process, made_message(head_for(where, o, ask(q))));
  wait(q, where.process, call);
  return q.value;
}

// The answer is for nobody.
void far_memory::post_change(void* word, const word_order& o) {
  const place where = place_of(word);
  messages_.post(where.process, made_message(head_for(where, o, 0)));
}

void far_memory::post(const copied_rows& c) {
  for (std::size_t row = 0; row < c.rows; ++row)
    for_each_part(c.row_bytes, most_bytes, [&](std::size_t at, std::size_t n) {
      const place where = place_of(c.to + row * c.to_pitch + at);
      count(where.process, n, 0);
      messages_.post(where.process,
                     made_message(head_for(message_kind::put, where, n), c.from + row * c.from_pitch + at, n));
    });
}

void far_memory::write(const copied_rows& c) {
  post(c);
  finish({place_of(c.to).pe}, copy_call);
}

// Asks each for nothing: the answer comes after all that was sent before.
void far_memory::finish(const std::vector<int>& pes, const char* call) {
  std::deque<std::pair<question, int>> asked;
  for (const int pe : pes) {
    const place where{pe / pes_, pe, 0};
    auto& [q, process] = asked.emplace_back(question{}, where.process);
    message_head h = head_for(message_kind::get, where, 0);
    h.number = ask(q);
    messages_.post(process, made_message(h));
  }
  wait_for_all(asked, call);
}

void far_memory::read(const copied_rows& c, const char* call) {
  std::deque<std::pair<question, int>> asked;
  for (std::size_t row = 0; row < c.rows; ++row)
    for_each_part(c.row_bytes, most_bytes, [&](std::size_t at, std::size_t n) {
      const place where = place_of(c.from + row * c.from_pitch + at);
      auto& [q, process] = asked.emplace_back(question{}, where.process);
      q.to = c.to + row * c.to_pitch + at;
      message_head h = head_for(message_kind::get, where, n);
      h.number = ask(q);
      messages_.post(process, made_message(h));
    });
  wait_for_all(asked, call);
}

// Nobody answers any more when this returns, nor when it throws.
void far_memory::wait_for_all(const std::deque<std::pair<question, int>>& asked, const char* call) {
  try {
    for (const auto& [q, process] : asked) wait(q, process, call);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    for (const auto& [q, process] : asked) forget(q);
    throw;
  }
}

}  // namespace starling
