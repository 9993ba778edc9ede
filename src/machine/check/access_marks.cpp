#include "access_marks.hpp"

#include <algorithm>

#include "../local_heap.hpp"
#include "declared_accesses.hpp"

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
  if (at < m.symmetric_bytes) return static_cast<int>(at / m.stride) != m.pe;
  return m.pe == host_place && m.local->home(reinterpret_cast<const void*>(address)) != host_place;
}

}  // namespace

void mark_access(access_marks& m, std::uintptr_t address, std::size_t bytes, bool write, const void* code) {
  // What is not the work's own leaves no marks: what others do there is not the point.
  if (m.scope != nullptr && !m.near.allows(address, bytes, write) && !m.scope->allows(address, bytes, write, m.near))
    return note(m, bad_access::kind::undeclared, address, bytes, write, code);
  // The common case: bytes of one line of the block's own PE or of local memory, as they should be.
  const std::uintptr_t at_all = address - m.begin;
  const bool local = at_all >= m.symmetric_bytes && at_all < m.bytes && m.watch_end == 0 && m.pe != host_place;
  if (const std::uintptr_t at = local ? at_all : address - m.own_begin;
      (local || at < m.own_bytes) && at % 64 + bytes <= 64) {
    line& l = (local ? m.lines : m.own_lines)[at / 64];
    const std::uint64_t mask = bits(at % 64, bytes);
    if ((mask & ~(write ? l.live : l.initialised)) == 0) {
      if ((l.read | l.written) == 0) m.touched.push_back(&l);
      if (write) l.initialised |= mask;
      (write ? l.written : l.read) |= mask;
      return;
    }
  }
  if (address - m.begin >= m.bytes || bytes == 0) return;
  if (address < m.watch_end && address + bytes > m.watch_begin)
    m.seen.push_back({m.block, m.stamp, write, address, bytes, code});
  const bool foreign = is_foreign(m, address);
  for (std::size_t done = 0; done < bytes;) {
    const std::uintptr_t at = address - m.begin + done;
    const std::size_t here = std::min(bytes - done, 64 - at % 64);
    const std::uint64_t mask = bits(at % 64, here);
    line& l = m.lines[at / 64];
    done += here;
    if ((mask & ~l.live) != 0) {
      note(m, bad_access::kind::dead, address, bytes, write, code);
      continue;
    }
    if (foreign) note(m, bad_access::kind::foreign, address, bytes, write, code);
    if (!write && (mask & ~l.initialised) != 0) note(m, bad_access::kind::uninitialised, address, bytes, write, code);
    if ((l.read | l.written) == 0) m.touched.push_back(&l);
    (write ? l.written : l.read) |= mask;
    if (write) l.initialised |= mask;
  }
}

}  // namespace starling::check
