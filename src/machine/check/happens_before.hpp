// What happened before a point of a block: a vector clock (Mattern 1989), one entry per block, and the operations
// (puts, gets, signals) that have completed before. An operation is no part of its block's own clock: it completes at a
// time of its own, and what is ordered after one is not ordered after the one before it.
//
// Reads and writes are counted apart. Packets order the reads of the sender before the writes of the receiver, because
// what is sent depends on what was read; the sender's writes are ordered only by signals, which release them. In the
// same way packets tell which operations have arrived, so that their bytes may be written again, but not that what they
// wrote may be read by others.
#pragma once

#include <memory>
#include <vector>

#include "operation_set.hpp"

namespace starling::check {

struct clock_pair {
  std::uint32_t reads = 0;
  std::uint32_t writes = 0;
};

struct happens_before {
  std::vector<clock_pair> clocks;         // by block
  std::vector<operation_set> operations;  // by block that issued them: what they wrote may be read
  std::vector<operation_set> arrived;     // the same: their bytes may be written again

  void reset(std::size_t blocks) {
    clocks.assign(blocks, {});
    operations.resize(blocks);
    arrived.resize(blocks);
    for (operation_set& s : operations) s.clear();
    for (operation_set& s : arrived) s.clear();
  }

  void join(const happens_before& other) {
    for (std::size_t i = 0; i < clocks.size(); ++i) {
      clocks[i].reads = std::max(clocks[i].reads, other.clocks[i].reads);
      clocks[i].writes = std::max(clocks[i].writes, other.clocks[i].writes);
      if (!other.operations[i].empty()) operations[i].merge(other.operations[i]);
      if (!other.arrived[i].empty()) arrived[i].merge(other.arrived[i]);
    }
  }
  void join_reads(const happens_before& other) {
    for (std::size_t i = 0; i < clocks.size(); ++i) {
      clocks[i].reads = std::max(clocks[i].reads, other.clocks[i].reads);
      if (!other.arrived[i].empty()) arrived[i].merge(other.arrived[i]);
    }
  }

  // Operations of a block are complete in every sense.
  void complete(std::size_t block, const operation_set& done) {
    operations[block].merge(done);
    arrived[block].merge(done);
  }
};

// What happened before a release, shared by all releases of a block between which it acquires nothing.
struct snapshot {
  happens_before happened_before;
  int users = 0;
  std::uint64_t serial = 0;  // tells snapshots apart that use the same memory
};

// Snapshots of one schedule; they are used again, so that a schedule allocates little.
class snapshots {
 public:
  snapshot* take(const happens_before& k) {
    if (free_.empty()) {
      all_.push_back(std::make_unique<snapshot>());
      free_.push_back(all_.back().get());
    }
    snapshot* s = free_.back();
    free_.pop_back();
    s->happened_before = k;
    s->users = 1;
    s->serial = ++serial_;
    return s;
  }
  // One user less; the pointer is null after.
  void drop(snapshot*& s) {
    if (s != nullptr && --s->users == 0) free_.push_back(s);
    s = nullptr;
  }
  void reset() {
    free_.clear();
    for (const auto& s : all_) free_.push_back(s.get());
  }

 private:
  std::vector<std::unique_ptr<snapshot>> all_;
  std::vector<snapshot*> free_;
  std::uint64_t serial_ = 0;
};

}  // namespace starling::check
