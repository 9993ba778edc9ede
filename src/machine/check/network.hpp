// Outstanding operations: puts, gets and signals that blocks have issued, delivered piece by piece in an order that
// the schedule draws. What the contract orders is kept: a put's data before its signal, what was issued before a fence
// before what comes after it, updates of one signal by one block in their order. Nothing else.
#pragma once

#include <memory>
#include <vector>

#include "clock.hpp"
#include "random.hpp"
#include "scheduled_block.hpp"
#include "shadow.hpp"
#include "sync_variables.hpp"

namespace starling::check {

struct outstanding_operation {
  scheduled_block* from = nullptr;
  std::uint32_t number = 0;
  int pe = 0;
  int context = 0;
  std::uint32_t epoch = 0;

  transfer move;  // count 0: a signal alone; its source is `staged` if the caller may reuse his
  std::vector<std::byte> staged;
  std::vector<bool> lacking;  // bytes of the source without a value; empty: none
  std::vector<index_range> pieces;

  std::size_t left = 0;  // by a card: bytes that have not landed
  std::vector<std::pair<const std::byte*, std::size_t>> landed;
  bool releases_by_data = false;  // its data is one word, for which a block may wait
  bool raises = false;
  signal_update update;
  std::uint32_t sync = 0;   // number of the sync variable
  std::uint32_t after = 0;  // 1 + number of this block's update of the same sync variable before this one; 0: none
  release covers;

  double arrives = 0;        // by the clock
  std::uint64_t serial = 0;  // of those that arrive at the same time, the first sent is the first
};

class network {
 public:
  network(shadow& memory, sync_variables& signals, snapshots& kept)
      : memory_(memory), sync_(signals), snapshots_(kept) {}

  void reset();

  // How the seed delivers: whole puts at once, or in pieces.
  void set_style(bool in_pieces) { in_pieces_ = in_pieces; }
  // Where time is kept, operations arrive by it: not null until the next time this is said.
  void set_clock(clock* c) { clock_ = c; }

  // A new operation of `from` with the next number; to be filled in, then sent.
  outstanding_operation& issue(scheduled_block& from, int pe, int context, const char* what, where at, bool blocking);
  void send(outstanding_operation& op, random& r);
  // Does an operation without a signal at once.
  void carry_out(outstanding_operation& op);

  // Of an operation that a card carries out: it is outstanding; some of its bytes land, and whether they are a word
  // that a block may wait for; its signal is raised to this value; all of it is done.
  void hand_to_card(outstanding_operation& op);
  bool land(outstanding_operation& op, void* to, const void* from, std::size_t bytes);
  struct delivery;
  delivery raise(outstanding_operation& op, std::uint64_t value);
  void finish(outstanding_operation& op);

  bool idle() const { return in_flight_.empty(); }
  std::uint64_t deliveries() const { return deliveries_; }

  // Whether what an operation of a block writes to this word is there.
  bool arrived(const scheduled_block& from, std::uint32_t number, const void* word) const;

  // What one delivery has changed.
  struct delivery {
    bool released_by_data = false;                  // a word of data for which a block may wait
    scheduled_block* completed = nullptr;           // an operation of this block
    const outstanding_operation* raised = nullptr;  // valid until the next issue
    std::uint64_t before = 0;                       // what the signal held
    bool valued = true;                             // whether that was a value
  };
  delivery deliver_one(random& r);
  // By the clock: when something arrives next, if anything is outstanding, and its delivery.
  double next_arrival() const { return in_flight_.front()->arrives; }
  delivery deliver_next();

 private:
  delivery deliver(std::size_t index, random* r);
  bool may_go(const outstanding_operation& op) const;
  void move_piece(outstanding_operation& op, index_range piece);
  void complete(std::size_t index);
  void count_out(outstanding_operation& op);
  void count_in(outstanding_operation& op);

  shadow& memory_;
  sync_variables& sync_;
  snapshots& snapshots_;
  bool in_pieces_ = true;
  clock* clock_ = nullptr;
  std::uint64_t sent_ = 0;
  std::vector<std::unique_ptr<outstanding_operation>> pool_;
  std::vector<outstanding_operation*> free_;
  std::vector<outstanding_operation*> in_flight_;  // with a clock: a heap by time of arrival
  std::vector<outstanding_operation*> by_card_;
  std::uint64_t deliveries_ = 0;
};

}  // namespace starling::check
