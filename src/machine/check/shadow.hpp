// What check mode keeps of every byte of symmetric memory: whether it is allocated and has a value, and who touched it
// last. Finds accesses that nothing orders.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "access_marks.hpp"
#include "happens_before.hpp"

namespace starling::check {

// Who touches memory: a block at a time of its own clock, or one of its operations.
struct access {
  int block = 0;
  std::uint32_t stamp = 0;  // the block's clock, or the number of the operation
  bool operation = false;
  bool atomic = false;
};

// An access and what it met.
struct conflict {
  access earlier;
  bool earlier_writes = false;
  access later;
  bool later_writes = false;
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
};

class shadow {
 public:
  // For `bytes` of memory from `begin`. Throws memory_error when the addresses are not to be had.
  shadow(std::uintptr_t begin, std::size_t bytes);
  ~shadow();
  shadow(const shadow&) = delete;
  shadow& operator=(const shadow&) = delete;

  // ---- of an exploration ----

  // An allocation begins here; bytes that do not hold the poison have a value.
  void open(const std::byte* start, std::size_t bytes);
  // Forgets all allocations.
  void close();

  // ---- of a schedule ----

  void reset();
  // An allocation that lives within the schedule begins here, without a value anywhere; its life ends.
  void open_fresh(const std::byte* start, std::size_t bytes);
  void end_life(const std::byte* start, std::size_t bytes);
  line* lines() { return lines_; }
  std::uintptr_t address_of(const line& l) const { return begin_ + static_cast<std::size_t>(&l - lines_) * 64; }

  // Calls f(line, mask) for the parts of a range.
  template <class F>
  void over(const void* start, std::size_t bytes, const F& f) {
    std::uintptr_t at = reinterpret_cast<std::uintptr_t>(start) - begin_;
    while (bytes > 0) {
      const std::size_t here = std::min<std::size_t>(bytes, 64 - at % 64);
      f(lines_[at / 64], check::bits(at % 64, here));
      at += here;
      bytes -= here;
    }
  }
  bool covers(const void* address) const { return reinterpret_cast<std::uintptr_t>(address) - begin_ < bytes_; }

  // Enters an access of a line's bytes. Returns false, and says what it met, if nothing orders the two.
  bool enter(line& l, std::uint64_t mask, const access& who, bool write, const happens_before& happened_before,
             conflict& met);

  // Calls f(who) for the operations that have written these bytes and are remembered. Where it returns true, they are
  // forgotten there.
  template <class F>
  void forget_operations(const void* start, std::size_t bytes, const F& f) {
    over(start, bytes, [&](line& l, std::uint64_t mask) {
      for (std::uint32_t i = l.writes; i != 0; i = marks_[i].next)
        if ((marks_[i].mask & mask) != 0 && marks_[i].who.operation && f(marks_[i].who)) marks_[i].mask &= ~mask;
    });
  }

  // Whether all bytes have a value; gives them one.
  bool valued(const void* start, std::size_t bytes);
  void give_value(const void* start, std::size_t bytes);

  // Bytes have been copied: they have a value where the source has; a null source has one everywhere.
  void copy_values(const std::byte* dest, const std::byte* source, std::size_t bytes);

  // Marks a line as changed in this schedule.
  void use(line& l) {
    if (l.used) return;
    l.used = true;
    used_.push_back(&l);
  }

 private:
  struct mark {
    std::uint64_t mask;
    access who;
    std::uint32_t next;
  };

  // Whether the access `a` happens before one with these clocks.
  static bool ordered(const access& a, bool write, bool later_write, const happens_before& happened_before) {
    const auto b = static_cast<std::size_t>(a.block);
    if (a.operation)
      return (later_write ? happened_before.arrived[b] : happened_before.operations[b]).contains(a.stamp);
    return (write ? happened_before.clocks[b].writes : happened_before.clocks[b].reads) >= a.stamp;
  }
  const mark* unordered_in(std::uint32_t list, bool writes, std::uint64_t mask, const access& who, bool write,
                           const happens_before& happened_before) const;
  void forget(std::uint32_t& list, bool writes, std::uint64_t mask, const access& by, bool write,
              const happens_before& happened_before);
  void add(std::uint32_t& list, std::uint64_t mask, const access& who);

  std::uintptr_t begin_;
  std::size_t bytes_;
  line* lines_;
  std::vector<line*> used_;
  std::vector<mark> marks_{1};  // number 0 is none
  std::uint32_t free_ = 0;      // list of marks that are no longer used
  std::vector<std::pair<line*, std::size_t>> open_;
};

}  // namespace starling::check
