// shmem::team: some of a machine's PEs, numbered from 0, and the symmetric memory by which they meet. Plain data, for
// kernels; the same on every PE. Made on the host, by shmem/symmetric_team.hpp.
//
// The members are the PEs start, start + stride, start + 2 stride ...: all splits of OpenSHMEM 1.5 stay of this form.
//
// Blocks. A collective of a team joins the blocks of equal index() of its members: block i of a PE meets block i of the
// others, and blocks of different index know nothing of one another. A team has memory for so many blocks of each PE.
// The calls are collectives of a group: of a block, or of a warp or a thread of it; one group of a block at a time.
#pragma once

#include "starling/device/packet.hpp"
#include "starling/device/symmetric.hpp"

namespace starling::shmem {

// How far the collectives of one block of a PE have come. They go in rounds, numbered from 1.
struct team_progress {
  std::uint64_t round = 0;  // the last one that it has entered
  std::uint64_t known = 0;  // a round that all members are known to have entered
  std::uint64_t kept = 0;   // its puts to its own PE (virtual devices)
};

// Small messages are packets: so many carry 32 bytes.
inline constexpr int packets_per_message = 4;
inline constexpr index_t small_message_bytes = 8 * packets_per_message;

class team {
 public:
  // Where the parts of block 0 lie. `capacity`: most members of a team.
  struct memory {
    sym<packet> packets;          // [blocks][2][capacity][packets_per_message] from each member, by parity of the round
    sym<std::byte> slots;         // [blocks][2][capacity][slot_bytes] the same
    sym<signal> entered;          // [blocks][2][capacity] the last round that a member has announced
    sym<team_progress> progress;  // [blocks]
    index_t slot_bytes = 0;
    index_t gather_bytes = 0;  // see team_options
    int capacity = 0;
    int blocks = 0;
  };

  // No team: OpenSHMEM's SHMEM_TEAM_INVALID.
  constexpr team() = default;
  STARLING_HD team(int start, int stride, int size, const memory& m)
      : start_(start), stride_(stride), size_(size), memory_(m) {}

  STARLING_HD explicit operator bool() const { return size_ > 0; }
  STARLING_HD int start() const { return start_; }
  STARLING_HD int stride() const { return stride_; }
  STARLING_HD int size() const { return size_; }
  STARLING_HD int blocks() const { return memory_.blocks; }
  STARLING_HD index_t slot_bytes() const { return memory_.slot_bytes; }
  STARLING_HD index_t gather_bytes() const { return memory_.gather_bytes; }

  // The PE of the machine that is member i.
  STARLING_HD int pe(int i) const { return start_ + i * stride_; }
  // The number of a PE of the machine in the team; -1 if it is no member.
  STARLING_HD int number_of(int pe) const {
    const int distance = pe - start_;
    if (size_ <= 0) return -1;
    if (stride_ == 0 || size_ == 1) return distance == 0 ? 0 : -1;
    const int i = distance / stride_;
    return distance % stride_ == 0 && i >= 0 && i < size_ ? i : -1;
  }

  // ---- for the calls: what belongs to one block ----

  STARLING_HD sym<packet> packets(int block, std::uint64_t round, int from) const {
    return memory_.packets + entry(block, round, from) * packets_per_message;
  }
  STARLING_HD sym<std::byte> slot(int block, std::uint64_t round, int from) const {
    return memory_.slots + entry(block, round, from) * memory_.slot_bytes;
  }
  // `orders`: of the calls that order other memory too.
  STARLING_HD sym<signal> entered(int block, bool orders, int member) const {
    return memory_.entered + ((static_cast<index_t>(block) * 2 + (orders ? 1 : 0)) * memory_.capacity + member);
  }
  STARLING_HD sym<team_progress> progress(int block) const { return memory_.progress + block; }

 private:
  STARLING_HD index_t entry(int block, std::uint64_t round, int from) const {
    return (static_cast<index_t>(block) * 2 + static_cast<index_t>(round % 2)) * memory_.capacity + from;
  }

  int start_ = 0;
  int stride_ = 1;
  int size_ = 0;
  memory memory_;
};

// The rows (x axis) or columns (y axis) of a team that shmem::team_split_2d has laid out in a rectangle. Each PE is in
// one of them, so they share their memory.
class axis_teams {
 public:
  constexpr axis_teams() = default;
  // `across`: a row has so many members, which are neighbours in the parent; a column's are so far apart.
  STARLING_HD axis_teams(const team& parent, int across, bool rows, const team::memory& m)
      : start_(parent.start()),
        stride_(parent.stride()),
        size_(parent.size()),
        across_(across),
        rows_(rows),
        memory_(m) {}

  // How many teams there are.
  STARLING_HD int count() const { return across_ == 0 ? 0 : rows_ ? (size_ + across_ - 1) / across_ : across_; }
  // Team i: row i or column i. No team where there is none.
  STARLING_HD team operator[](int i) const {
    if (i < 0 || i >= count()) return {};
    if (rows_) {
      const int first = i * across_;
      const int left = size_ - first;
      return {start_ + first * stride_, stride_, left < across_ ? left : across_, memory_};
    }
    return {start_ + i * stride_, across_ * stride_, (size_ - i + across_ - 1) / across_, memory_};
  }
  // The team that a PE of the machine is in. No team if the PE is not in the parent.
  STARLING_HD team of(int pe) const {
    const int number = team(start_, stride_, size_, memory_).number_of(pe);
    if (number < 0) return {};
    return (*this)[rows_ ? number / across_ : number % across_];
  }

 private:
  int start_ = 0;
  int stride_ = 1;
  int size_ = 0;
  int across_ = 0;
  bool rows_ = true;
  team::memory memory_;
};

// ---- OpenSHMEM's names; g is a block or a part of one ----

// The caller's number in the team; -1 if its PE is no member.
template <class Group>
STARLING_HD int team_my_pe(const Group& g, const team& t) {
  return t.number_of(g.pe());
}

// How many PEs the team has; -1 for no team.
STARLING_HD inline int team_n_pes(const team& t) { return t ? t.size() : -1; }

// The number in `to` of member `pe` of `from`; -1 if there is no such member in one of them.
STARLING_HD inline int team_translate_pe(const team& from, int pe, const team& to) {
  return pe < 0 || pe >= from.size() ? -1 : to.number_of(from.pe(pe));
}

}  // namespace starling::shmem
