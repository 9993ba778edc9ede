// Entries byte by byte, as mlx5 cards have them: what is built, and what is made of bytes written by hand.
#include "starling/device/network/entry.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>

#include "support/network.hpp"

namespace starling::test::entry_tests {
namespace {

using namespace network;

TEST_CASE("a write has its index, queue, addresses, keys and size where mlx5 has them") {
  order o;
  o.flags = wants_completion;
  o.index = 0x1234;
  o.queue = 0xabcdef;
  o.remote = 0x0102030405060708;
  o.remote_key = 0x11223344;
  o.bytes = 0x100;
  o.local_key = 0x55667788;
  o.local = 0x090a0b0c0d0e0f10;
  CHECK(hex(built(o)) ==
        "00123408 abcdef03 00000008 00000000 "
        "01020304 05060708 11223344 00000000 "
        "00000100 55667788 090a0b0c 0d0e0f10 "
        "00000000 00000000 00000000 00000000");
}

TEST_CASE("12 bytes are carried in the entry, behind their number and its mark") {
  order o;
  o.flags = wants_completion | fenced;
  o.index = 0xffff;
  o.queue = 5;
  o.remote = 16;
  o.remote_key = 2;
  o.bytes = 12;
  o.carries = true;
  for (unsigned char i = 0; i < 12; ++i) o.data[i] = static_cast<unsigned char>(0xa0 + i);
  CHECK(hex(built(o)) ==
        "00ffff08 00000503 00000048 00000000 "
        "00000000 00000010 00000002 00000000 "
        "8000000c a0a1a2a3 a4a5a6a7 a8a9aaab "
        "00000000 00000000 00000000 00000000");
}

TEST_CASE("an atomic operation has what is added, what is compared with, and where the old value goes") {
  order o;
  o.what = opcode::compare_swap;
  o.index = 7;
  o.queue = 1;
  o.remote = 64;
  o.remote_key = 3;
  o.operand = 0xbeef;
  o.compare = 0xcafe;
  o.bytes = 8;
  o.local_key = 4;
  o.local = 0x1000;
  CHECK(hex(built(o)) ==
        "00000711 00000104 00000000 00000000 "
        "00000000 00000040 00000003 00000000 "
        "00000000 0000beef 00000000 0000cafe "
        "00000008 00000004 00000000 00001000");
}

TEST_CASE("what is built is parsed to the same") {
  for (const opcode what : {opcode::write, opcode::read, opcode::compare_swap, opcode::fetch_add}) {
    order o;
    o.what = what;
    o.flags = fenced;
    o.index = 0x8001;
    o.queue = 0x123456;
    o.remote = 0x7fffffffffff;
    o.remote_key = 9;
    o.bytes = 8;
    o.local_key = 8;
    o.local = 0x123456789;
    order back;
    REQUIRE(parsed(built(o), back));
    CHECK(hex(built(back)) == hex(built(o)));
    CHECK(back.index == o.index);
    CHECK(back.queue == o.queue);
  }
}

TEST_CASE("entries of unknown opcodes, with the length of others, or atomic on 2 bytes are not parsed") {
  order o;
  CHECK_FALSE(parsed(from_hex("00000009 00000103 00000008 00000000"), o));
  CHECK_FALSE(parsed(from_hex("00000008 00000104 00000008 00000000"), o));
  CHECK_FALSE(parsed(from_hex("00000012 00000104 00000008 00000000 00000000 00000000 00000001 00000000"
                              "00000000 00000001 00000000 00000000 00000002 00000001 00000000 00000000"),
                     o));
  // 13 bytes do not fit
  CHECK_FALSE(parsed(from_hex("00000008 00000103 00000008 00000000 00000000 00000000 00000001 00000000"
                              "8000000d 00000000 00000000 00000000"),
                     o));
}

TEST_CASE("a completion's owner bit tells rounds apart, and its index goes on past 16 bits") {
  const std::uint64_t first = last_word(7, 3, completion_kind::done, owner_of(3, 4));
  CHECK(first == 0x0000000700030000);
  CHECK(is_new(first, 3, 4));
  CHECK_FALSE(is_new(first, 7, 4));
  CHECK(is_new(last_word(7, 7, completion_kind::done, owner_of(7, 4)), 7, 4));
  CHECK_FALSE(is_new(never_written(), 0, 4));
  CHECK_FALSE(is_new(never_written(), 4, 4));
  CHECK(is_error(last_word(7, 7, completion_kind::failed, true)));
  CHECK(unwrapped(65535, 0) == 65536);
  CHECK(unwrapped(65535, 65535) == 65535);
  CHECK(unwrapped(3 * 65536 + 5, 9) == 3 * 65536 + 9);
}

}  // namespace
}  // namespace starling::test::entry_tests
