// What any card makes of the bytes that it has fetched, on a GPU or not: doorbells and records, whether an entry may be
// carried out, and what its completion says.
#pragma once

#include "entry_name.hpp"
#include "starling/device/network/queue_pair.hpp"

namespace starling::network {

// The index behind the last entry that is to be fetched.
STARLING_HD inline std::uint16_t told_by_record(std::uint64_t record) {
  return static_cast<std::uint16_t>(big_endian(record));
}
// False: it has never been rung.
STARLING_HD inline bool told_by_doorbell(std::uint64_t doorbell, std::uint16_t& next) {
  const std::uint64_t rung = big_endian(doorbell);
  next = static_cast<std::uint16_t>((rung >> 40) + 1);
  return rung != 0;
}
// An old one says nothing new.
STARLING_HD inline bool is_news(std::uint16_t next, std::uint16_t told, std::uint32_t depth) {
  return static_cast<std::uint16_t>(next - told) <= depth;
}

STARLING_HD inline const memory_region* region_of(const region_table& memory, std::uint32_t key) {
  for (int i = 0; i < memory.all; ++i)
    if (key != no_key && memory.regions[i].key == key) return &memory.regions[i];
  return nullptr;
}

// Whether an entry may be carried out. `whole`: parsed() said so; `place`: where it was fetched.
STARLING_HD inline status judge(const order& o, bool whole, const entry_name& place, const region_table& memory) {
  if (!whole || o.queue != place.queue || o.index != place.index) return status::bad_entry;
  if (o.bytes > most_entry_bytes) return status::local_length;
  const std::uint32_t at_peer = is_atomic(o.what) ? may_change : o.what == opcode::read ? may_read : may_write;
  const std::uint32_t near = o.what == opcode::write ? may_read : may_write;
  if (!o.carries) {
    const memory_region* here = region_of(memory, o.local_key);
    if (here == nullptr || (here->rights & near) == 0 || !here->holds(o.local, o.bytes))
      return status::local_protection;
  }
  const memory_region* there = region_of(memory, o.remote_key);
  if (there == nullptr || (there->rights & at_peer) == 0 || !there->holds(o.remote, o.bytes))
    return status::remote_access;
  if (is_atomic(o.what) && o.remote % o.bytes != 0) return status::remote_access;
  return status::ok;
}

// Whether an entry comes, at the far side, after all before it.
STARLING_HD inline bool comes_after_all(const order& o) { return (o.flags & fenced) != 0 || o.what != opcode::write; }

STARLING_HD inline completion completion_of(const order& o, status result, std::uint32_t queue, bool owner) {
  completion c{};
  const auto kind = result == status::ok ? completion_kind::done : completion_kind::failed;
  c.word[5] = big_endian(o.bytes);
  c.word[6] = big_endian(static_cast<std::uint64_t>(result));
  c.word[7] = big_endian(last_word(queue, o.index, kind, owner));
  return c;
}

}  // namespace starling::network
