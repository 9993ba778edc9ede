// A queue pair and a card over memory of the test, and entries as hexadecimal text.
#pragma once

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "machine/network/card.hpp"
#include "machine/network/queue_memory.hpp"
#include "starling/device/network/bus.hpp"

namespace starling::test {

inline std::string hex(const network::entry& e) {
  unsigned char bytes[sizeof e];
  std::memcpy(bytes, &e, sizeof e);
  std::string text;
  for (std::size_t i = 0; i < sizeof e; ++i) {
    char two[3];
    (void)std::snprintf(two, sizeof two, "%02x", bytes[i]);
    text += two;
    if (i % 4 == 3 && i + 1 < sizeof e) text += ' ';
  }
  return text;
}

// The first bytes of an entry; the others are 0.
inline network::entry from_hex(const std::string& text) {
  unsigned char bytes[sizeof(network::entry)] = {};
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    const int v = c <= '9' ? c - '0' : c - 'a' + 10;
    bytes[digits / 2] = static_cast<unsigned char>(bytes[digits / 2] * 16 + v);
    ++digits;
  }
  network::entry e{};
  std::memcpy(&e, bytes, sizeof bytes);
  return e;
}

// Reads and writes memory as it is.
struct plain_memory : network::card_memory {
  network::entry fetch(const network::entry_name&, const network::entry& place) override { return place; }
  std::uint64_t look(const std::uint64_t& word) override { return word; }
  void gather(const network::entry_name&, const void* from, void* to, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void scatter(const network::entry_name&, void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
    ++pieces;
  }
  std::uint64_t change(const network::entry_name&, void* word, const network::order& what) override {
    ++changes;
    std::uint64_t old = 0;
    std::memcpy(&old, word, what.bytes);
    const std::uint64_t fresh = what.what == network::opcode::fetch_add ? old + what.operand
                                : old == what.compare                   ? what.operand
                                                                        : old;
    std::memcpy(word, &fresh, what.bytes);
    return old;
  }
  void complete(const network::entry_name&, network::completion& place, const network::completion& value) override {
    place = value;
    ++completions;
  }
  bool lost(std::uint32_t) override { return link_lost; }

  int pieces = 0;
  int changes = 0;
  int completions = 0;
  bool link_lost = false;
};

// PEs 0 and 1 with 4096 bytes each, a queue from 0 to 1, and the card that serves it when the sender pauses.
struct small_network {
  explicit small_network(std::uint32_t depth = 4, std::uint64_t first = 0)
      : here(512),
        there(512),
        regions{{at(here), 4096, 0x101, network::all_rights}, {at(there), 4096, 0x102, network::all_rights}},
        queue(regions, 2, 7, depth, 0, 1, first),
        card(network::setup_of(queue.pair(), first), memory) {}

  static std::uint64_t at(const std::vector<std::uint64_t>& words) {
    return reinterpret_cast<std::uintptr_t>(words.data());
  }

  struct bus : network::direct_bus {
    network::card_queue* card = nullptr;
    void reserved(const network::queue_pair&, std::uint64_t, std::uint64_t) const {}
    bool pause(const network::queue_pair&) const { return card->serve(); }
  };
  bus way() {
    bus b;
    b.card = &card;
    return b;
  }

  network::order put_of(std::size_t word, std::size_t n) const {
    network::order o;
    o.remote = at(there) + 8 * word;
    o.remote_key = 0x102;
    o.bytes = static_cast<std::uint32_t>(8 * n);
    o.local = at(here) + 8 * word;
    o.local_key = 0x101;
    return o;
  }
  network::status last_status() const {
    const network::queue_pair& q = queue.pair();
    const auto i = static_cast<std::size_t>(memory.completions - 1) % q.depth;
    return network::status_of(network::big_endian(q.completions[i].word[6]));
  }

  std::vector<std::uint64_t> here;
  std::vector<std::uint64_t> there;
  std::vector<network::memory_region> regions;
  network::queue_memory queue;
  plain_memory memory;
  network::card_queue card;
};

}  // namespace starling::test
