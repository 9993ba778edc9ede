#include "access_marks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../local_heap.hpp"
#include "declared_accesses.hpp"
#include "scheduled_block.hpp"
#include "scratch_area.hpp"

namespace starling::check {

constinit thread_local access_marks* running_marks = nullptr;

namespace {

void note(access_marks& m, bad_access::kind what, std::uintptr_t address, std::size_t bytes, bool write,
          const void* code) {
  if (m.problem.what == bad_access::kind::none) m.problem = {what, address, bytes, write, code, m.scope};
}

// Whether the running block may not touch this memory by plain loads and stores.
bool is_foreign(const access_marks& m, std::uintptr_t address) {
  const std::uintptr_t at = address - m.begin;
  if (at < m.symmetric_bytes) {
    const auto of = static_cast<int>(at / m.stride);
    return of != m.pe && (m.running == nullptr || !m.running->reached[static_cast<std::size_t>(of)]);
  }
  if (m.scratch->covers(address)) return m.scratch->owner(address) != m.block;
  return m.pe == host_place && m.local->home(reinterpret_cast<const void*>(address)) != host_place;
}

const std::byte* line_start(const access_marks& m, std::uintptr_t at) {
  return reinterpret_cast<const std::byte*>(m.begin + at / 64 * 64);
}

void mark_in_use(access_marks& m, std::uintptr_t address, std::size_t bytes, bool write, const void* code) {
  const near_use* u = m.disturbed(address, bytes, write);
  if (u == nullptr) return;
  note(m, bad_access::kind::in_use, address, bytes, write, code);
  if (m.problem.code == code) m.problem.use = *u;
}

// The first access to a line since the block's last call, and whatever is not as it should be.
[[gnu::noinline]] void mark_with_care(access_marks& m, std::uintptr_t address, std::size_t bytes, bool write,
                                      const void* code) {
  const std::uintptr_t start = address - m.begin;
  if (bytes == 0) return;
  if (start >= m.bytes) return mark_in_use(m, address, bytes, write, code);
  // What is not the work's own leaves no marks: what others do there is not the point.
  if (m.scope != nullptr && !m.around.allows(address, bytes, write) &&
      !m.scope->allows(address, bytes, write, m.around))
    return note(m, bad_access::kind::undeclared, address, bytes, write, code);
  const bool foreign = is_foreign(m, address);
  // The common case: bytes of one line that the block may touch, as they should be.
  if (!foreign && m.watch_end == 0 && start % 64 + bytes <= 64) {
    line& l = m.lines[start / 64];
    const std::uint64_t mask = bits(start % 64, bytes);
    if ((mask & ~(write ? l.live : l.initialised)) == 0) {
      if ((l.read | l.written) == 0) m.touched.push_back(&l);
      if (write) l.initialised |= mask;
      (write ? l.written : l.read) |= mask;
      return;
    }
  }
  if (address < m.watch_end && address + bytes > m.watch_begin)
    m.seen.push_back({m.block, m.stamp, write, address, bytes, code, m.thread, m.interval, m.loop, m.element});
  for (std::size_t done = 0; done < bytes;) {
    const std::uintptr_t at = start + done;
    if (at >= m.bytes) break;
    const std::size_t here = std::min(bytes - done, 64 - at % 64);
    const std::uint64_t mask = bits(at % 64, here);
    line& l = m.lines[at / 64];
    done += here;
    if ((mask & ~l.live) != 0) {
      note(m, bad_access::kind::dead, address, bytes, write, code);
      continue;
    }
    if (foreign) note(m, bad_access::kind::foreign, address, bytes, write, code);
    if (!write && without_value(l, mask, line_start(m, at)) != 0)
      note(m, bad_access::kind::uninitialised, address, bytes, write, code);
    if ((l.read | l.written) == 0) m.touched.push_back(&l);
    (write ? l.written : l.read) |= mask;
    if (write) l.initialised |= mask;
  }
}

}  // namespace

std::uint64_t without_value(line& l, std::uint64_t mask, const std::byte* start) {
  std::uint64_t left = mask & ~l.initialised;
  while (left != 0) {
    // A word of the poison at a time: one byte of it may be a value like any other.
    const int word = std::countr_zero(left) / 4 * 4;
    const std::uint64_t missing = left & bits(static_cast<std::size_t>(word), sizeof poison);
    left &= ~missing;
    for (int i = word; i < word + 4; ++i)
      if ((missing >> i & 1) != 0 && start[i] != static_cast<std::byte>(poison >> i % 4 * 8)) l.initialised |= missing;
  }
  return mask & ~l.initialised;
}

void fill_with_poison(std::byte* start, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof poison)
    std::memcpy(start + i, &poison, std::min(sizeof poison, bytes - i));
}

void access_marks::add_use(const near_use& u) {
  const std::uintptr_t end = std::max(in_use_begin + in_use_bytes, u.end);
  in_use_begin = in_use.empty() ? u.begin : std::min(in_use_begin, u.begin);
  in_use_bytes = (in_use.empty() ? u.end : end) - in_use_begin;
  in_use.push_back(u);
}

void access_marks::end_uses(int of_block, int context) {
  if (in_use.empty()) return;
  std::vector<near_use> others;
  others.swap(in_use);
  in_use_begin = in_use_bytes = 0;
  for (const near_use& u : others)
    if (of_block != any_block && (u.block != of_block || (context != any_context && u.context != context))) add_use(u);
}

const near_use* access_marks::disturbed(std::uintptr_t address, std::size_t n, bool write) const {
  for (const near_use& u : in_use)
    if (address < u.end && address + n > u.begin && (write || u.written)) return &u;
  return nullptr;
}

void mark_access(access_marks& m, std::uintptr_t address, std::size_t bytes, bool write, const void* code) {
  const std::uintptr_t at = address - m.begin;
  if (at < m.quick_bytes && at % 64 + bytes <= 64 && m.scope == nullptr) {
    line& l = m.lines[at / 64];
    const std::uint64_t mask = bits(at % 64, bytes);
    // Whose memory a line is has been asked when the first of its bytes was marked.
    if ((l.read | l.written) != 0 && (mask & ~(write ? l.live : l.initialised)) == 0) {
      if (write) l.initialised |= mask;
      (write ? l.written : l.read) |= mask;
      return;
    }
  }
  mark_with_care(m, address, bytes, write, code);
}

}  // namespace starling::check
