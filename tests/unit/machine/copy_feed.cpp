// The order in which steps go into streams, with hardware queues that are made up: however few there are, kernels and
// copies that wait for each other go on, and in the end every PE has been told of what there is.
#include "machine/copy_feed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>

#include "support/random.hpp"

namespace starling::test::copy_feed_tests {
namespace {

constexpr int buffers = 2;

// Chunks of each PE go to all others; `words` of a PE: awaited, told by PE and chunk, made, and the data of a chunk.
struct plan : triggered_copies {
  plan(int n_pes, int n_chunks, int n_queues)
      : pes(n_pes), chunks(n_chunks), n(n_queues), words(static_cast<std::size_t>(pes * row())), others() {
    for (int pe = 0; pe < pes; ++pe) {
      others.emplace_back();
      for (int k = 1; k < pes; ++k) others.back().push_back((pe + k) % pes);
    }
  }

  int row() const { return chunks + pes * chunks + buffers * chunks + buffers * pes * chunks; }
  template <class T>
  sym<T> at(int i) const {
    return {reinterpret_cast<T*>(const_cast<std::uint64_t*>(words.data()) + i), row() * 8};
  }
  sym<signal> trigger(int c) const { return at<signal>(c); }
  sym<signal> arrived(int owner, int c) const { return at<signal>(chunks + owner * chunks + c); }
  sym<std::uint64_t> made(int c, int buffer) const {
    return at<std::uint64_t>(chunks + pes * chunks + c * buffers + buffer);
  }
  sym<std::uint64_t> data(int owner, int c, int buffer) const {
    return at<std::uint64_t>(chunks + (pes + buffers) * chunks + (owner * chunks + c) * buffers + buffer);
  }

  void begin() override {}
  int queues() const override { return n; }
  bool step(int pe, int queue, std::uint64_t number, copy_step& s) const override {
    const int mine = (chunks - queue + n - 1) / n;
    if (mine <= 0) return false;
    const auto of_queue = static_cast<std::uint64_t>(mine);
    const int c = queue + static_cast<int>(number % of_queue) * n;
    const std::uint64_t epoch = 1 + number / of_queue;
    const int buffer = static_cast<int>(epoch % buffers);
    s.awaited = trigger(c);
    s.value = epoch;
    const sym<std::uint64_t> d = data(pe, c, buffer);
    s.data = {reinterpret_cast<std::byte*>(d.on(0)), d.stride_bytes()};
    s.bytes = sizeof(std::uint64_t);
    s.to = others[static_cast<std::size_t>(pe)];
    s.made = made(c, buffer);
    s.arrived = arrived(pe, c);
    return true;
  }

  int pes;
  int chunks;
  int n;
  std::vector<std::uint64_t> words;
  std::vector<std::vector<int>> others;
};

// The device: hardware queues, each of which does what it was given in order, one operation at a time.
class device {
 public:
  device(int hardware_queues, copy_feed& feed) : waiting_(static_cast<std::size_t>(hardware_queues)), feed_(feed) {}

  void put_steps() {
    while (fed_queue* q = feed_.next()) {
      auto& line = waiting_[static_cast<std::size_t>(q - feed_.queues().data()) % waiting_.size()];
      const copy_step s = q->next;
      const int pe = q->pe;
      const auto copy = [](std::uint64_t* to, const std::uint64_t* from) {
        return [=] {
          *to = *from;
          return true;
        };
      };
      const auto tell = [](std::uint64_t* to, const std::uint64_t* from) {
        return [=] {
          CHECK(*from >= *to);  // signals only grow
          *to = *from;
          return true;
        };
      };
      line.push_back([=] { return s.awaited.on(pe)->value >= s.value; });
      for (const int to : s.to)
        line.push_back(copy(reinterpret_cast<std::uint64_t*>(s.data.on(to)),
                            reinterpret_cast<const std::uint64_t*>(s.data.on(pe))));
      line.push_back([reached = q->reached, number = q->given + 1] {
        *reached = number;
        return true;
      });
      for (const int to : s.to) line.push_back(tell(&s.arrived.on(to)->value, s.made.on(pe)));
      feed_.put(*q);
    }
  }

  bool idle() const {
    return std::all_of(waiting_.begin(), waiting_.end(), [](const auto& line) { return line.empty(); });
  }
  // One operation of some queue. False: all wait.
  bool work(random& r) {
    const std::size_t first = r.below(waiting_.size());
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      auto& line = waiting_[(first + i) % waiting_.size()];
      if (line.empty() || !line.front()()) continue;
      line.pop_front();
      return true;
    }
    return false;
  }

 private:
  std::vector<std::deque<std::function<bool()>>> waiting_;
  copy_feed& feed_;
};

// A kernel of a PE: commits its chunks one by one, each epoch when it has all of the one before.
struct kernel_of_pe {
  plan& p;
  int pe;
  std::uint64_t last;
  std::uint64_t epoch = 1;
  int chunk = 0;

  bool over() const { return epoch > last; }
  bool work() {
    if (over()) return false;
    for (int owner = 0; owner < p.pes; ++owner)
      for (int c = 0; c < p.chunks; ++c) {
        if (p.arrived(owner, c).on(pe)->value < epoch - 1) return false;
        if (chunk == 0 && epoch > 1)
          CHECK(*p.data(owner, c, static_cast<int>((epoch - 1) % buffers)).on(pe) == value(owner, c, epoch - 1));
      }
    const int buffer = static_cast<int>(epoch % buffers);
    *p.data(pe, chunk, buffer).on(pe) = value(pe, chunk, epoch);
    *p.made(chunk, buffer).on(pe) = epoch;
    p.trigger(chunk).on(pe)->value = epoch;
    p.arrived(pe, chunk).on(pe)->value = epoch;
    if (++chunk == p.chunks) {
      chunk = 0;
      ++epoch;
    }
    return true;
  }
  static std::uint64_t value(int owner, int c, std::uint64_t e) {
    return e * 1000 + static_cast<std::uint64_t>(owner) * 100 + static_cast<std::uint64_t>(c);
  }
};

TEST_CASE("steps go on with any number of hardware queues, and end with what there is") {
  random r(47);
  INFO("STARLING_TEST_SEED=" << r.seed);
  for (int times = 0; times < 300; ++times) {
    const int pes = 2 + static_cast<int>(r.below(3));
    plan p(pes, 1 + static_cast<int>(r.below(7)), 1 + static_cast<int>(r.below(3)));
    const std::uint64_t last = r.below(12);
    const int hardware = 1 + static_cast<int>(r.below(5));
    CAPTURE(pes);
    CAPTURE(p.chunks);
    CAPTURE(p.n);
    CAPTURE(last);
    CAPTURE(hardware);
    std::vector<std::uint64_t> reached(static_cast<std::size_t>(pes * p.n), 0);
    copy_feed feed;
    for (int pe = 0; pe < pes; ++pe)
      for (int q = 0; q < p.n; ++q) feed.add(p, pe, q, &reached[static_cast<std::size_t>(pe * p.n + q)]);
    device d(hardware, feed);
    std::vector<kernel_of_pe> kernels;
    for (int pe = 0; pe < pes; ++pe) kernels.push_back({p, pe, last});
    const auto over = [](const kernel_of_pe& k) { return k.over(); };
    int in_vain = 0;
    while (!std::all_of(kernels.begin(), kernels.end(), over) && in_vain < 1000) {
      d.put_steps();
      const bool went_on = r.below(2) == 0 ? d.work(r) : kernels[r.below(kernels.size())].work();
      in_vain = went_on ? 0 : in_vain + 1;
    }
    REQUIRE(in_vain < 1000);
    feed.end();
    while (feed.more()) {
      d.put_steps();
      REQUIRE(d.work(r));
    }
    feed.release();
    while (!d.idle()) REQUIRE(d.work(r));
    for (int pe = 0; pe < pes; ++pe)
      for (int owner = 0; owner < pes; ++owner)
        for (int c = 0; c < p.chunks; ++c) {
          CHECK(p.arrived(owner, c).on(pe)->value == last);
          for (std::uint64_t e = last < buffers ? 1 : last - buffers + 1; e <= last; ++e)
            CHECK(*p.data(owner, c, static_cast<int>(e % buffers)).on(pe) == kernel_of_pe::value(owner, c, e));
        }
  }
}

}  // namespace
}  // namespace starling::test::copy_feed_tests
