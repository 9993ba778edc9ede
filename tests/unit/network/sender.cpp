// The block's end of a queue pair: rings that wrap, templates, errors, and warps that share a queue.
#include "starling/device/network/sender.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "support/network.hpp"

namespace starling::test::sender_tests {
namespace {

using namespace network;

TEST_CASE("70,000 puts through a ring of 4 that begins before its indices wrap") {
  small_network n(4, 65534);
  auto way = n.way();
  const sender<small_network::bus> send(n.queue.pair(), way);
  for (std::uint64_t i = 0; i < 70000; ++i) {
    n.here[0] = i;
    order o = n.put_of(0, 1);
    const std::uint64_t end = send.post(&o, 1);
    REQUIRE(end == 65534 + i + 1);
    if (i % 3 == 0) {
      REQUIRE(send.wait(end));
      REQUIRE(n.there[0] == i);
    }
  }
  CHECK(send.quiet());
  CHECK(n.there[0] == 69999);
  CHECK(n.memory.completions == 70000);
}

TEST_CASE(
    "a slot's template is patched for another use of its kind, and built again for one with other flags or keys") {
  small_network n(2);
  auto way = n.way();
  const queue_pair& q = n.queue.pair();
  const sender<small_network::bus> send(q, way);
  const auto post = [&](order o) { REQUIRE(send.post(&o, 1) != 0); };
  const std::uint64_t junk = 0x5555;
  q.ring[0].word[6] = junk;  // a put does not have this word: only a whole entry sets it
  post(n.put_of(0, 2));
  CHECK(q.ring[0].word[6] == junk);
  post(n.put_of(0, 2));
  order flagged = n.put_of(0, 2);
  flagged.flags = fenced;
  post(flagged);
  CHECK(q.ring[0].word[6] == 0);
  CHECK((big_endian(q.ring[0].word[1]) >> 32) == (fenced | wants_completion));
  post(n.put_of(0, 2));
  post(n.put_of(0, 2));  // the fence is taken out again
  CHECK((big_endian(q.ring[0].word[1]) >> 32) == wants_completion);
  order other = n.put_of(0, 2);
  other.remote_key = 0x999;
  post(n.put_of(0, 2));
  post(other);
  CHECK((big_endian(q.ring[0].word[3]) >> 32) == 0x999);
}

TEST_CASE("fence marks the next entry alone") {
  small_network n(8);
  auto way = n.way();
  const queue_pair& q = n.queue.pair();
  const sender<small_network::bus> send(q, way);
  send.fence();
  for (int i = 0; i < 2; ++i) {
    order o = n.put_of(0, 2);
    REQUIRE(send.post(&o, 1) != 0);
  }
  CHECK((big_endian(q.ring[0].word[1]) >> 32 & fenced) != 0);
  CHECK((big_endian(q.ring[1].word[1]) >> 32 & fenced) == 0);
}

TEST_CASE("an error ends waits, and says which entry it was") {
  small_network n(8, 65533);
  auto way = n.way();
  const sender<small_network::bus> send(n.queue.pair(), way);
  for (int i = 0; i < 4; ++i) {
    order o = n.put_of(0, 2);
    REQUIRE(send.post(&o, 1) != 0);
  }
  order wrong = n.put_of(0, 2);
  wrong.remote_key = 0x777;
  REQUIRE(send.post(&wrong, 1) != 0);
  order after = n.put_of(0, 2);
  REQUIRE(send.post(&after, 1) != 0);
  CHECK_FALSE(send.quiet());
  CHECK(send.failed());
  const queue_state& s = *n.queue.pair().state;
  CHECK(s.failed == 65533 + 4);
  CHECK(static_cast<status>(s.error) == status::remote_access);
  CHECK_FALSE(send.wait(65533 + 6));
}

TEST_CASE("behind an error there are more completions than were asked for, which are all seen") {
  small_network n(8);
  auto way = n.way();
  const sender<small_network::bus> send(n.queue.pair(), way);
  order right = n.put_of(0, 2);
  for (int i = 0; i < 5; ++i) {
    order o = right;
    REQUIRE(send.post(&o, 1) != 0);
  }
  REQUIRE(send.quiet());
  order both[2] = {n.put_of(0, 2), n.put_of(0, 2)};
  both[0].remote_key = 0x777;
  REQUIRE(send.post(both, 2) != 0);
  CHECK_FALSE(send.quiet());
  int more = 0;
  while (more < 100 && send.poll()) ++more;
  const queue_state& s = *n.queue.pair().state;
  CHECK(s.asked == 6);
  CHECK(s.polled == 7);
  CHECK(s.failed == 5);
  CHECK(static_cast<status>(s.error) == status::remote_access);
}

TEST_CASE("a link that is lost fails with retries exceeded") {
  small_network n;
  n.memory.link_lost = true;
  auto way = n.way();
  const sender<small_network::bus> send(n.queue.pair(), way);
  order o = n.put_of(0, 2);
  REQUIRE(send.post(&o, 1) != 0);
  CHECK_FALSE(send.quiet());
  CHECK(static_cast<status>(n.queue.pair().state->error) == status::retry_exceeded);
  CHECK(n.memory.pieces == 0);
}

// Lets a card on a thread of its own see words as the bus stores them.
struct shared_memory : plain_memory {
  entry fetch(const entry_name&, const entry& place) override {
    entry e{};
    for (int i = 0; i < 8; ++i) e.word[i] = look(place.word[i]);
    return e;
  }
  std::uint64_t look(const std::uint64_t& word) override {
    return std::atomic_ref(const_cast<std::uint64_t&>(word)).load();
  }
  void complete(const entry_name&, completion& place, const completion& value) override {
    for (int i = 0; i < 8; ++i) std::atomic_ref(place.word[i]).store(value.word[i]);
  }
};

TEST_CASE("several warps share a queue: each entry arrives once, and the card is told in their order") {
  constexpr int warps = 4;
  constexpr std::uint64_t each = 3000;
  small_network n(8, 65500);
  shared_memory memory;
  card_queue card(setup_of(n.queue.pair(), 65500), memory);
  std::atomic<bool> over{false};
  std::thread serving([&] {
    while (!over.load())
      if (!card.serve()) std::this_thread::yield();
  });
  struct bus : direct_bus {
    void reserved(const queue_pair&, std::uint64_t, std::uint64_t) const {}
    bool pause(const queue_pair&) const {
      std::this_thread::yield();
      return true;
    }
  };
  std::vector<std::thread> all;
  std::atomic<int> good{0};
  for (int w = 0; w < warps; ++w)
    all.emplace_back([&, w] {
      bus way;
      const sender<bus> send(n.queue.pair(), way);
      for (std::uint64_t i = 0; i < each; ++i) {
        order two[2] = {n.put_of(static_cast<std::size_t>(w), 1), order{}};
        two[0].carries = true;
        std::memcpy(two[0].data, &i, sizeof i);
        two[1].what = opcode::fetch_add;
        two[1].remote = n.at(n.there) + 8 * 100;
        two[1].remote_key = 0x102;
        two[1].operand = 1;
        two[1].bytes = 8;
        two[1].local = n.at(n.here) + 8 * static_cast<std::size_t>(200 + w);
        two[1].local_key = 0x101;
        if (send.post(two, 2) == 0) return;
      }
      if (send.quiet()) good.fetch_add(1);
    });
  for (std::thread& t : all) t.join();
  over.store(true);
  serving.join();
  CHECK(good.load() == warps);
  CHECK(n.there[100] == warps * each);
  for (std::size_t w = 0; w < warps; ++w) CHECK(n.there[w] == each - 1);
  CHECK(memory.changes == warps * each);
}

}  // namespace
}  // namespace starling::test::sender_tests
