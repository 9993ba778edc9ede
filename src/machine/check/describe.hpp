// Words for what a schedule has found.
#pragma once

#include <string>
#include <vector>

#include "../local_heap.hpp"
#include "finding.hpp"
#include "scheduled_block.hpp"
#include "scratch_area.hpp"
#include "sync_variables.hpp"

namespace starling::check {

// Where symmetric, local and scratch memory lie and what is allocated in them.
struct memory_map {
  std::uintptr_t begin = 0;
  std::size_t stride = 0;      // from PE to PE
  std::size_t user_bytes = 0;  // of each PE; the machine's own words come behind
  struct allocation {
    std::size_t offset;
    std::size_t bytes;
  };
  std::vector<allocation> allocations;    // by offset, on every PE alike
  const local_heap* local = nullptr;      // behind the parts of all PEs
  const scratch_area* scratch = nullptr;  // and behind that
  std::size_t bytes = 0;                  // of all of it
  std::shared_ptr<const named_ranges> names = std::make_shared<const named_ranges>();

  bool covers(std::uintptr_t address) const { return address - begin < bytes; }

  bool is_symmetric(std::uintptr_t address) const {
    return address - begin < reinterpret_cast<std::uintptr_t>(local->start()) - begin;
  }
  bool is_local(std::uintptr_t address) const { return local->in_range(reinterpret_cast<const void*>(address)); }
  // Whether the address is of memory that users have allocated, not of the machine's own words.
  bool is_users(std::uintptr_t address) const { return is_local(address) || offset_of(address) < user_bytes; }
  int pe_of(std::uintptr_t address) const {
    if (is_local(address)) return local->home(reinterpret_cast<const void*>(address));
    return static_cast<int>((address - begin) / stride);
  }
  std::size_t offset_of(std::uintptr_t address) const {
    if (is_local(address)) return address - reinterpret_cast<std::uintptr_t>(local->start());
    return (address - begin) % stride;
  }
};

// With the names of when this work was submitted.
memory_map as_named(const memory_map& now, const access_scope* work);

// "PE 1 block 0 (faces)", or (task 'x') in place of the role; of what it did at a time of its clock.
std::string block_text(const scheduled_block& a);
std::string block_text(const scheduled_block& a, std::uint32_t stamp);

// "signal +0x40 of PE 1".
std::string place_text(const memory_map& m, const void* signal);

// "4 bytes at +0x1240 of PE 1 (byte 64 of an allocation of 4096)".
std::string range_text(const memory_map& m, std::uintptr_t address, std::size_t bytes);

// "put_signal at file:12 to PE 1, 256 bytes, signal +0x40 = 3".
std::string call_text(const memory_map& m, const call& c);

// The host copies bytes that nothing has written. Fewer than so many in a row may be padding, which no struct begins
// with.
inline constexpr std::size_t least_without_value = 8;
std::string host_reads_text(const memory_map& m, std::uintptr_t address, std::size_t bytes, where at = {"", 0});

// The last calls of a block, oldest first.
std::vector<std::string> history_text(const memory_map& m, const scheduled_block& a);

// All blocks wait and nothing is outstanding: who waits for what, and why it may not come.
finding stuck_finding(const std::vector<scheduled_block>& scheduled, sync_variables& signals, const memory_map& m);

// An access to what its work did not declare.
void describe_undeclared(finding& f, const std::string& does, const memory_map& m);

// An access that is wrong by itself, and two that nothing orders. `seen`: accesses to those bytes in a replay.
void describe_access(finding& f, const std::vector<scheduled_block>& scheduled, const memory_map& m);
void describe_threads(finding& f, const std::vector<scheduled_block>& scheduled, const memory_map& m,
                      const std::vector<seen_access>& seen);
void describe_elements(finding& f, const std::vector<scheduled_block>& scheduled, const memory_map& m,
                       const std::vector<seen_access>& seen);
void describe_race(finding& f, const std::vector<scheduled_block>& scheduled, const memory_map& m,
                   const std::vector<seen_access>& seen);

}  // namespace starling::check
