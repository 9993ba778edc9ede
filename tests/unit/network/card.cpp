// The card, fed with bytes: what it does with entries written by hand, and with those that it cannot carry out.
#include <doctest/doctest.h>

#include "support/network.hpp"

namespace starling::test::card_tests {
namespace {

using namespace network;

// An entry into the next slot, and the record.
void hand_in(small_network& n, entry e, std::uint16_t index) {
  const queue_pair& q = n.queue.pair();
  q.ring[index & (q.depth - 1)] = e;
  *q.record = big_endian(static_cast<std::uint64_t>(static_cast<std::uint16_t>(index + 1)));
}

std::string address(std::uint64_t a) {
  char text[20];
  (void)std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(a));
  return text;
}

TEST_CASE("bytes written by hand: a put, a get, one that carries its data, both atomic operations") {
  small_network n;
  for (std::size_t i = 0; i < 512; ++i) n.here[i] = i;
  const std::string near = address(n.at(n.here) + 8);
  const std::string far = address(n.at(n.there) + 16);
  hand_in(n,
          from_hex("00000008 00000703 00000008 00000000" + far +
                   "00000102 00000000"
                   "00000010 00000101" +
                   near),
          0);
  CHECK(n.card.serve());
  CHECK(n.there[2] == 1);
  CHECK(n.there[3] == 2);
  CHECK(n.there[4] == 0);
  CHECK(n.memory.completions == 1);
  CHECK(big_endian(n.queue.pair().completions[0].word[7]) == 0x0000000700000000);

  n.there[2] = 77;
  hand_in(n,
          from_hex("00000110 00000703 00000008 00000000" + far +
                   "00000102 00000000"
                   "00000008 00000101" +
                   near),
          1);
  CHECK(n.card.serve());
  CHECK(n.here[1] == 77);

  hand_in(n,
          from_hex("00000208 00000703 00000008 00000000" + far +
                   "00000102 00000000"
                   "80000004 01020304"),
          2);
  CHECK(n.card.serve());
  CHECK(n.there[2] == 0x04030201);

  hand_in(n,
          from_hex("00000312 00000704 00000008 00000000" + far +
                   "00000102 00000000"
                   "00000000 00000005 00000000 00000000"
                   "00000008 00000101" +
                   near),
          3);
  CHECK(n.card.serve());
  CHECK(n.there[2] == 0x04030206);
  CHECK(n.here[1] == 0x04030201);

  hand_in(n,
          from_hex("00000411 00000704 00000008 00000000" + far +
                   "00000102 00000000"
                   "00000000 00000009 00000000 04030206"
                   "00000008 00000101" +
                   near),
          4);
  CHECK(n.card.serve());
  CHECK(n.there[2] == 9);
  CHECK(n.here[1] == 0x04030206);
  CHECK(n.memory.completions == 5);
  CHECK((big_endian(n.queue.pair().completions[0].word[7]) & 1) == 1);  // the second round
  CHECK(n.last_status() == status::ok);
}

TEST_CASE("only entries that ask for it get a completion") {
  small_network n;
  order o = n.put_of(0, 4);
  o.queue = 7;
  hand_in(n, built(o), 0);
  CHECK(n.card.serve());
  CHECK(n.memory.pieces == 1);
  CHECK(n.memory.completions == 0);
}

TEST_CASE("an entry that cannot be carried out writes nothing, gets its status, and ends the queue") {
  struct wrong {
    status expected;
    void (*change)(order&);
  };
  const wrong all[] = {
      {status::remote_access, [](order& o) { o.remote_key = 0x103; }},
      {status::remote_access, [](order& o) { o.remote_key = no_key; }},
      {status::remote_access, [](order& o) { o.remote += 4096 - 16; }},
      {status::remote_access, [](order& o) { o.remote -= 8; }},
      {status::remote_access, [](order& o) { o.remote = ~std::uint64_t{0} - 8; }},
      {status::local_protection, [](order& o) { o.local_key = 0x102; }},
      {status::local_protection, [](order& o) { o.local += 4096; }},
      {status::local_length, [](order& o) { o.bytes = most_entry_bytes + 1; }},
      {status::bad_entry, [](order& o) { o.index = 1; }},
      {status::bad_entry, [](order& o) { o.queue = 8; }},
  };
  for (const wrong& w : all) {
    small_network n;
    n.here.assign(512, 1);
    order o = n.put_of(0, 4);
    o.queue = 7;
    w.change(o);
    hand_in(n, built(o), 0);
    CHECK(n.card.serve());
    CHECK(n.memory.pieces == 0);
    CHECK(n.there == std::vector<std::uint64_t>(512, 0));
    REQUIRE(n.memory.completions == 1);
    CHECK(n.last_status() == w.expected);
    order good = n.put_of(0, 4);
    good.queue = 7;
    good.index = 1;
    hand_in(n, built(good), 1);
    CHECK(n.card.serve());
    CHECK(n.memory.pieces == 0);
    CHECK(n.last_status() == status::flushed);
  }
}

TEST_CASE("memory that may not be changed is not") {
  small_network n;
  std::vector<memory_region> regions = n.regions;
  regions[1].rights = may_read;
  const queue_memory queue(regions, 2, 7, 4, 0, 1, 0);
  card_queue card(setup_of(queue.pair(), 0), n.memory);
  order o = n.put_of(0, 1);
  o.queue = 7;
  queue.pair().ring[0] = built(o);
  *queue.pair().record = big_endian(1);
  CHECK(card.serve());
  CHECK(n.memory.pieces == 0);
  CHECK(status_of(big_endian(queue.pair().completions[0].word[6])) == status::remote_access);
}

TEST_CASE("an atomic operation whose answer got lost is done once") {
  small_network n;
  order o = n.put_of(0, 1);
  o.what = opcode::fetch_add;
  o.operand = 5;
  o.queue = 7;
  o.flags = wants_completion;
  hand_in(n, built(o), 0);
  CHECK(n.card.look(card_queue::step::look_at_record));
  n.card.take({card_queue::step::fetch, 0, 0});
  n.card.take({card_queue::step::gather, 0, 0});
  CHECK(n.card.retry());
  CHECK(n.card.retry());
  CHECK(n.card.serve());
  CHECK(n.there[0] == 5);
  CHECK(n.memory.changes == 1);
}

TEST_CASE("what has a fence waits for what is before it, and what comes after waits for both") {
  small_network n(8);
  for (std::uint16_t i = 0; i < 3; ++i) {
    order o = n.put_of(i, 1);
    o.queue = 7;
    o.index = i;
    if (i == 1) o.flags = fenced;
    hand_in(n, built(o), i);
  }
  CHECK(n.card.look(card_queue::step::look_at_record));
  for (int i = 0; i < 3; ++i) n.card.take({card_queue::step::fetch, 0, 0});
  std::vector<card_queue::choice> all;
  n.card.choices(all);
  REQUIRE(all.size() == 1);
  CHECK(all[0].what == card_queue::step::gather);
  n.card.take(all[0]);
  all.clear();
  n.card.choices(all);
  REQUIRE(all.size() == 1);
  CHECK(all[0].what == card_queue::step::land);
  CHECK(all[0].entry == 0);
}

TEST_CASE("a doorbell tells of entries, and the record of those whose doorbell was lost") {
  small_network n;
  const queue_pair& q = n.queue.pair();
  order o = n.put_of(0, 1);
  o.queue = 7;
  q.ring[0] = built(o);
  o.index = 1;
  q.ring[1] = built(o);
  CHECK_FALSE(n.card.look(card_queue::step::look_at_doorbell));
  *q.doorbell = q.ring[0].word[0];
  CHECK(n.card.look(card_queue::step::look_at_doorbell));
  CHECK(n.card.told() == 1);
  *q.record = big_endian(2);
  CHECK(n.card.look(card_queue::step::look_at_record));
  CHECK(n.card.told() == 2);
  CHECK(n.card.look(card_queue::step::look_at_doorbell));  // an old one
  CHECK(n.card.told() == 2);
}

}  // namespace
}  // namespace starling::test::card_tests
