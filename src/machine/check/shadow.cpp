#include "shadow.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstring>

#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::check {

shadow::shadow(std::uintptr_t begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  expect<memory_error>(memory != MAP_FAILED, "check mode: ", format_bytes(bytes),
                       " of addresses are not to be had; ask for fewer devices or less memory each "
                       "(STARLING_HOST_MEMORY)");
  lines_ = static_cast<line*>(memory);  // zero bytes are a line of which nothing is known
}

shadow::~shadow() { munmap(lines_, bytes_); }

void shadow::open(const std::byte* start, std::size_t bytes) {
  const std::size_t first = (reinterpret_cast<std::uintptr_t>(start) - begin_) / 64;
  open_.emplace_back(lines_ + first, (bytes + 63) / 64);
  for (std::size_t at = 0; at < bytes; at += 64) {
    line& l = lines_[first + at / 64];
    const std::size_t here = std::min<std::size_t>(64, bytes - at);
    l.live = check::bits(0, here);
    l.initialised = 0;
    (void)without_value(l, l.live, start + at);
    l.started_as = l.initialised;
  }
}

void shadow::close() {
  reset();
  for (const auto& [first, count] : open_) std::memset(static_cast<void*>(first), 0, count * sizeof(line));
  open_.clear();
}

void shadow::reset() {
  for (line* l : used_) {
    l->read = l->written = 0;
    l->initialised = l->started_as;
    l->writes = l->reads = l->sync_variables = 0;
    l->used = false;
  }
  used_.clear();
  marks_.resize(1);
  free_ = 0;
}

void shadow::open_fresh(const std::byte* start, std::size_t bytes) {
  over(start, bytes, [](line& l, std::uint64_t mask) {
    l.live = mask;
    l.initialised = l.started_as = 0;
    l.writes = l.reads = l.sync_variables = 0;
  });
}

void shadow::end_life(const std::byte* start, std::size_t bytes) {
  over(start, bytes, [](line& l, std::uint64_t) { l.live = 0; });
}

bool shadow::valued(const void* start, std::size_t bytes) {
  bool all = true;
  over(start, bytes, [&](line& l, std::uint64_t mask) {
    const auto* first = reinterpret_cast<const std::byte*>(begin_) + (&l - lines_) * 64;
    all = all && ((mask & ~l.initialised) == 0 || without_value(l, mask, first) == 0);
  });
  return all;
}

void shadow::give_value(const void* start, std::size_t bytes) {
  over(start, bytes, [](line& l, std::uint64_t mask) { l.initialised |= mask; });
}

void shadow::copy_values(const std::byte* dest, const std::byte* source, std::size_t bytes) {
  const bool whole = source == nullptr || valued(source, bytes);
  give_value(dest, bytes);
  if (whole) return;
  for (std::size_t i = 0; i < bytes; ++i)
    if (!valued(source + i, 1)) over(dest + i, 1, [](line& l, std::uint64_t mask) { l.initialised &= ~mask; });
}

const shadow::mark* shadow::unordered_in(std::uint32_t list, bool writes, std::uint64_t mask, const access& who,
                                         bool write, const happens_before& happened_before) const {
  for (std::uint32_t i = list; i != 0; i = marks_[i].next) {
    const mark& m = marks_[i];
    if ((m.mask & mask) == 0) continue;
    if (m.who.atomic && who.atomic) continue;
    if (!m.who.operation && m.who.block == who.block) continue;  // a block's own past
    if (!ordered(m.who, writes, write, happened_before)) return &m;
  }
  return nullptr;
}

bool shadow::enter(line& l, std::uint64_t mask, const access& who, bool write, const happens_before& happened_before,
                   conflict& met) {
  use(l);
  const mark* other = unordered_in(l.writes, true, mask, who, write, happened_before);
  bool other_writes = true;
  if (other == nullptr && write) {
    other = unordered_in(l.reads, false, mask, who, write, happened_before);
    other_writes = false;
  }
  if (other != nullptr) {
    const std::uint64_t common = other->mask & mask;
    const int first = std::countr_zero(common);
    met = {other->who,
           other_writes,
           who,
           write,
           begin_ + static_cast<std::uintptr_t>(&l - lines_) * 64 + static_cast<std::uintptr_t>(first),
           static_cast<std::size_t>(std::countr_one(common >> first))};
    return false;
  }
  if (write) {
    forget(l.writes, true, mask, who, write, happened_before);
    forget(l.reads, false, mask, who, write, happened_before);
    add(l.writes, mask, who);
  } else {
    forget(l.reads, false, mask, who, write, happened_before);
    add(l.reads, mask, who);
  }
  return true;
}

// Takes the bytes from those marks of a list that the access `by` makes needless: whatever is in conflict with them
// later is in conflict with it too.
void shadow::forget(std::uint32_t& list, bool writes, std::uint64_t mask, const access& by, bool write,
                    const happens_before& happened_before) {
  std::uint32_t* link = &list;
  while (*link != 0) {
    mark& m = marks_[*link];
    const bool own = !m.who.operation && m.who.block == by.block;
    if ((!by.atomic || m.who.atomic) && (own || ordered(m.who, writes, write, happened_before))) m.mask &= ~mask;
    if (m.mask != 0) {
      link = &m.next;
      continue;
    }
    const std::uint32_t gone = *link;
    *link = m.next;
    m.next = free_;
    free_ = gone;
  }
}

void shadow::add(std::uint32_t& list, std::uint64_t mask, const access& who) {
  if (free_ == 0) {
    marks_.push_back({mask, who, list});
    list = static_cast<std::uint32_t>(marks_.size() - 1);
    return;
  }
  const std::uint32_t again = free_;
  free_ = marks_[again].next;
  marks_[again] = {mask, who, list};
  list = again;
}

}  // namespace starling::check
