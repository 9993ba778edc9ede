// What check mode does not play, because a block of a virtual device is one thread and its entries are right: warps
// that share a queue pair, one at a time in an order drawn from the seed; and entries that a card must not carry out.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "../support/network.hpp"
#include "starling/base/error.hpp"
#include "starling/device/network/sender.hpp"

namespace st = starling;
namespace wire = starling::network;

namespace {

struct found : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Lets one of several threads go on at a time.
class turns {
 public:
  turns(int threads, std::uint64_t seed) : over_(static_cast<std::size_t>(threads), false), random_(seed) {}

  // Called by the thread whose turn it is, at each thing that others may see. False: give up.
  bool pass(int me) {
    std::unique_lock lock(mutex_);
    if (++taken_ > most) stop("waits for ever: an entry or its completion is not seen");
    draw();
    turn_.wait(lock, [&] { return now_ == me || stopped(); });
    return !stopped();
  }
  void begin(int me) {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return now_ == me || stopped(); });
  }
  void end(int me) {
    const std::lock_guard lock(mutex_);
    over_[static_cast<std::size_t>(me)] = true;
    draw();
  }
  void fail(const std::string& text) {
    const std::lock_guard lock(mutex_);
    stop(text);
  }
  bool chance(unsigned one_in) { return random_() % one_in == 0; }
  const std::string& text() const { return text_; }

 private:
  static constexpr int most = 20000;

  bool stopped() const { return !text_.empty(); }
  void stop(const std::string& text) {
    if (text_.empty()) text_ = text;
    turn_.notify_all();
  }
  void draw() {
    std::vector<int> left;
    for (std::size_t i = 0; i < over_.size(); ++i)
      if (!over_[i]) left.push_back(static_cast<int>(i));
    if (!left.empty()) now_ = left[random_() % left.size()];
    turn_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable turn_;
  std::vector<bool> over_;
  std::mt19937_64 random_;
  int now_ = 0;
  int taken_ = 0;
  std::string text_;
};

struct counting_memory : st::test::plain_memory {
  void done(const wire::entry_name&) override { ++entries; }
  std::uint64_t entries = 0;
};

constexpr std::uint32_t depth = 4;
// The card reaches the middle of each side's words: what it does outside does no harm and is seen.
constexpr std::uint64_t before = 256;
constexpr std::uint64_t region = 2048;
constexpr std::size_t words = (before + region + before) / 8;

// A queue from PE 0 to PE 1, and its card.
struct small_queue {
  explicit small_queue(std::uint64_t seed, std::uint32_t rights_at_peer = wire::all_rights)
      : first(65536 - seed % 16),
        here(words),
        there(words),
        regions{{at(here), region, 0x101, wire::all_rights}, {at(there), region, 0x102, rights_at_peer}},
        queue(regions, 2, 7, depth, 0, 1, first),
        card(wire::setup_of(queue.pair(), first), memory) {}

  static std::uint64_t at(const std::vector<std::uint64_t>& of) {
    return reinterpret_cast<std::uintptr_t>(of.data()) + before;
  }

  std::uint64_t first;
  std::vector<std::uint64_t> here;
  std::vector<std::uint64_t> there;
  std::vector<wire::memory_region> regions;
  wire::queue_memory queue;
  counting_memory memory;
  wire::card_queue card;
  std::set<std::uint64_t> released;
};

// One warp's way to the memory that it shares with the others and with the card.
class warp_bus : public wire::records_nothing {
 public:
  warp_bus(small_queue& q, turns& all, int me) : q_(q), all_(all), me_(me) {}

  void store(std::uint64_t& to, std::uint64_t value) const {
    turn();
    to = value;
  }
  void release() const {
    turn();
    q_.released.insert(mine_.begin(), mine_.end());
  }
  void tell(std::uint64_t& to, std::uint64_t value) const {
    turn();
    to = value;
    const wire::queue_pair& p = q_.queue.pair();
    if (&to == p.completion_record) return;
    const std::uint64_t said = wire::big_endian(value);
    const std::uint64_t done = q_.first + q_.memory.entries;
    const std::uint64_t end =
        1 + wire::unwrapped(done, static_cast<std::uint16_t>((&to == p.doorbell ? said >> 40 : said - 1) & 0xffff));
    if (end > done + depth) return;  // the card has done it already
    for (std::uint64_t n = done; n < end; ++n) {
      if (q_.released.contains(n)) continue;
      all_.fail(st::message("warps: the ", &to == p.doorbell ? "doorbell" : "doorbell record",
                            " tells the card of entry ", n & 0xffff, " before it is released"));
      return;
    }
  }
  void lock_staging() const {}
  void unlock_staging() const {}
  std::uint64_t load(std::uint64_t& from) const {
    turn();
    return from;
  }
  template <class Word>
  Word take(Word& word, Word n) const {
    turn();
    return std::exchange(word, word + n);
  }
  template <class Word>
  Word look(Word& word) const {
    turn();
    return word;
  }
  template <class Word>
  void set(Word& word, Word value) const {
    turn();
    word = value;
    const wire::queue_state& s = *q_.queue.pair().state;
    if (s.completed > q_.first + q_.memory.entries)
      all_.fail("warps: entries that the card has not done are counted as complete");
  }
  template <class Word>
  Word exchange(Word& word, Word value) const {
    turn();
    return std::exchange(word, value);
  }
  void reserved(const wire::queue_pair&, std::uint64_t first, std::uint64_t n) {
    mine_.clear();
    for (std::uint64_t i = first; i < first + n; ++i) mine_.push_back(i);
  }
  bool pause(const wire::queue_pair&) const {
    (void)q_.card.serve();
    return all_.pass(me_);
  }

 private:
  void turn() const {
    if (!all_.pass(me_)) throw found("");
    if (all_.chance(8)) (void)q_.card.serve();
  }

  small_queue& q_;
  turns& all_;
  int me_;
  std::vector<std::uint64_t> mine_;  // the entries that it writes
};

void warps(std::uint64_t seed) {
  constexpr int n = 3;
  constexpr std::uint64_t each = 3;
  small_queue q(seed);
  turns all(n, seed);
  const auto warp = [&](int me) {
    warp_bus way(q, all, me);
    const wire::sender<warp_bus> send(q.queue.pair(), way);
    for (std::uint64_t i = 1; i <= each; ++i) {
      std::array<wire::order, 2> two{};
      two[0].remote = q.at(q.there) + 8 * static_cast<std::uint64_t>(me);
      two[0].remote_key = 0x102;
      two[0].bytes = 8;
      two[0].carries = true;
      std::memcpy(two[0].data, &i, sizeof i);
      two[1] = two[0];
      two[1].remote += std::uint64_t{8} * n;
      two[1].flags = wire::fenced;
      if (send.post(two.data(), 2) == 0) throw found("warps: a right entry is refused");
    }
    if (!send.quiet()) throw found("warps: quiet fails");
  };
  std::vector<std::thread> threads;
  for (int me = 0; me < n; ++me)
    threads.emplace_back([&, me] {
      all.begin(me);
      try {
        warp(me);
      } catch (const found& f) {
        if (*f.what() != 0) all.fail(f.what());
      }
      all.end(me);
    });
  for (std::thread& t : threads) t.join();
  if (!all.text().empty()) throw found(all.text());
  for (std::size_t i = 0; i < 2 * n; ++i)
    if (q.there[before / 8 + i] != each) throw found("warps: the last value has not arrived");
}

// One entry with something wrong, and a right one after it.
void wrong_entry(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  wire::order o;
  o.what = std::array{wire::opcode::write, wire::opcode::read, wire::opcode::fetch_add}[draw(3)];
  o.bytes = wire::is_atomic(o.what) ? 8 : 8 * (1 + draw(8));
  o.operand = 1;
  const std::uint32_t wrong = draw(7);
  const bool writes_there = o.what != wire::opcode::read;
  small_queue q(seed, wrong != 0 ? wire::all_rights : writes_there ? wire::may_read : wire::may_write);
  q.here.assign(q.here.size(), 1);
  o.index = static_cast<std::uint16_t>(q.first);
  o.queue = 7;
  o.remote = q.at(q.there) + 32;
  o.local = q.at(q.here) + 32;
  o.remote_key = 0x102;
  o.local_key = 0x101;
  wire::order right = o;
  const char* what = "no right to what it does";
  if (wrong == 1) {
    what = "a key of no memory at the far side";
    o.remote_key = 0x500;
  } else if (wrong == 2) {
    what = "a key of no memory at the near side";
    o.local_key = 0x500;
  } else if (wrong == 3) {
    what = "a range beyond its memory at the far side";
    o.remote += region - 32 - o.bytes + 8;
  } else if (wrong == 4) {
    what = "a range before its memory at the near side";
    o.local -= 40;
  } else if (wrong == 5) {
    what = "another index";
    ++o.index;
  } else if (wrong == 6) {
    what = "another queue's number";
    ++o.queue;
  }
  const auto here = q.here;
  const auto there = q.there;
  const wire::queue_pair& p = q.queue.pair();
  ++right.index;
  p.ring[q.first & (depth - 1)] = wire::built(o);
  p.ring[(q.first + 1) & (depth - 1)] = wire::built(right);
  *p.record = wire::big_endian((q.first + 2) & 0xffff);
  (void)q.card.serve();
  if (q.memory.pieces != 0 || q.memory.changes != 0 || q.here != here || q.there != there)
    throw found(st::message("wrong entry: one with ", what, ", or the one after it, is carried out"));
  if (q.memory.completions != 2) throw found("wrong entry: no completion says so");
}

template <class F>
bool passes(std::uint64_t seeds, const F& run) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) try {
      run(seed);
    } catch (const found& f) {
      std::printf("found %s, seed %llu\n", f.what(), static_cast<unsigned long long>(seed));
      return false;
    }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::stoull(argv[1]) : 200;
  if (!passes(seeds, warps) || !passes(seeds, wrong_entry)) return 1;
  std::printf("passed\n");
  return 0;
}
