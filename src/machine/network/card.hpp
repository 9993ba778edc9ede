// A network card, modelled: carries out the entries of queue pairs and writes their completions. It knows only the
// bytes that it fetches: entries, doorbells and their records, and the table of memory regions with their keys. All
// that it does to memory goes through card_memory, so that check mode can say what it sees and when.
//
// One queue runs in order, queues do not wait for one another. What it writes lands in pieces, in any order, but for
// entries with a fence, and reads and atomic operations, which come after all before them. Completions are written in
// order. An entry that cannot be carried out writes nothing; it gets an error completion, and so do all after it.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "card_rules.hpp"
#include "starling/device/network/queue_pair.hpp"

namespace starling::network {

// What the host tells a card of a queue pair.
struct queue_setup {
  std::uint32_t number = 0;
  std::uint32_t depth = 0;
  std::uint16_t first = 0;  // index of the first entry
  const entry* ring = nullptr;
  const std::uint64_t* record = nullptr;
  const std::uint64_t* doorbell = nullptr;
  completion* completions = nullptr;
  const std::uint64_t* completion_record = nullptr;
  region_table memory;
  int pe = 0;    // whose near side it is
  int peer = 0;  // at the far side
};
queue_setup setup_of(const queue_pair& q, std::uint64_t first);

class card_memory {
 public:
  virtual ~card_memory() = default;
  // Of a ring.
  virtual entry fetch(const entry_name& of, const entry& place) = 0;
  // Doorbells and records.
  virtual std::uint64_t look(const std::uint64_t& word) = 0;
  // Data at either side.
  virtual void gather(const entry_name& of, const void* from, void* to, std::size_t bytes) = 0;
  virtual void scatter(const entry_name& of, void* to, const void* from, std::size_t bytes) = 0;
  // Takes a write's or a read's data from one side to the other by itself, which it may still touch until the entry is
  // settled; false: it is to be gathered and scattered.
  virtual bool move(const entry_name&, [[maybe_unused]] void* to, [[maybe_unused]] const void* from,
                    [[maybe_unused]] std::size_t bytes) {
    return false;
  }
  // Does one atomic operation; what the word held.
  virtual std::uint64_t change(const entry_name& of, void* word, const order& what) = 0;
  virtual void complete(const entry_name& of, completion& place, const completion& value) = 0;
  // The card is done with an entry, whether or not that asked for a completion.
  virtual void done(const entry_name&) {}
  // Whether what has landed for an entry is at the far side, so that it may be complete.
  virtual bool settled(const entry_name&) { return true; }
  // How many of the bytes that are left to write land together.
  virtual std::size_t piece(std::size_t left) { return left; }
  // Whether the way to the peer is lost.
  virtual bool lost(std::uint32_t) { return false; }
};

// A queue pair as a card has it.
class card_queue {
 public:
  card_queue(const queue_setup& s, card_memory& memory) : s_(s), memory_(memory), fetched_(s.first), told_(s.first) {}

  enum class step { look_at_doorbell, look_at_record, fetch, gather, land, complete };
  struct choice {
    step what = step::fetch;
    std::size_t entry = 0;  // among those under way
    std::size_t piece = 0;
  };
  // What it could do next. Looking is always possible and is not among them.
  void choices(std::vector<choice>& all) const;
  void take(const choice& c);
  // The doorbell was rung, or the record is looked at without one; whether there is more to do than before.
  bool look(step how);

  // Does all there is to do, one entry after the other; whether that was anything.
  bool serve();
  const queue_setup& setup() const { return s_; }
  bool idle() const { return under_way_.empty() && fetched_ == told_; }
  std::uint16_t told() const { return told_; }

  // An answer got lost: the card asks again for an atomic operation that was done, if there is one under way.
  bool retry();

 private:
  struct piece {
    std::uint64_t to;
    std::size_t begin;
    std::size_t bytes;
  };
  struct work {
    order what;
    status result = status::ok;
    bool gathered = false;
    bool done_at_peer = false;  // an atomic operation: the peer keeps the answer
    std::uint64_t answer = 0;
    std::vector<std::byte> data;
    std::vector<piece> pieces;  // still to land
    bool landed() const { return gathered && pieces.empty(); }
    bool after_all() const { return comes_after_all(what); }
  };
  void fetch();
  bool may_start(std::size_t entry) const;
  bool may_complete() const;
  void carry_out(std::size_t entry);
  void gather(work& w);
  void land(const work& w, const piece& p);
  void do_atomic(work& w);
  void complete();
  entry_name name_of(const work& w) const { return {s_.number, w.what.index}; }

  queue_setup s_;
  card_memory& memory_;
  std::uint16_t fetched_;  // index of the next entry to fetch
  std::uint16_t told_;     // index behind the last one that is to be fetched
  std::deque<work> under_way_;
  std::size_t landed_ = 0;  // at least so many of the first have landed
  std::uint64_t completions_ = 0;
  bool failed_ = false;
};

}  // namespace starling::network
