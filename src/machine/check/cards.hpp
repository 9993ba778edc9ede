// Network cards under a schedule: queue pairs of blocks, what of their stores a card can see, and what it does next,
// all drawn from the seed. Holds what blocks and card owe each other (the rules of docs/queue_pairs.md) and says at
// which line of the user's source the entry was posted that breaks one.
//
// A store to a ring or a record is seen by the card late, 8 bytes at a time, in any order, until the block releases;
// slots that the card has read ahead stay as they were until then. Doorbells get lost.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "../network/card.hpp"
#include "../network/host_layout.hpp"
#include "../network/queue_memory.hpp"
#include "finding.hpp"
#include "network.hpp"
#include "starling/device/network/carrier.hpp"

namespace starling::check {

namespace wire = ::starling::network;

// What a machine on several hosts has.
struct card_setting {
  wire::host_layout hosts;
  std::vector<wire::memory_region> regions;
  std::uint32_t depth = 0;
  int pes = 0;
};

// What the schedule does for cards.
class card_events {
 public:
  virtual ~card_events() = default;
  // Something is wrong. From a block's call it does not return.
  virtual void found_by_card(finding f) = 0;
  virtual void ready_by_card(scheduled_block& a) = 0;
  virtual void delivered_by_card(const network::delivery& d) = 0;
  // The cards do a few things while the block is in a call.
  virtual void turns_of_cards() = 0;
  // The block sleeps until its queue has a completion.
  virtual void wait_for_card(scheduled_block& a) = 0;
};

// What is to happen when a card has done an atomic operation: with what the word held, what it holds, and whether that
// was stored.
using atomic_done = std::function<void(std::uint64_t before, std::uint64_t after, bool stored)>;

class cards final : public wire::card_memory {
 public:
  cards(network& operations, card_events& events, random& r) : network_(operations), events_(events), random_(r) {}

  // Of this schedule's work; null: all PEs are on one host.
  void set(const card_setting* s) { setting_ = s; }
  void reset(bool canonical);
  bool apart(int pe, int peer) const { return setting_ != nullptr && setting_->hosts.apart(pe, peer); }

  // ---- calls of blocks ----

  void put(scheduled_block& a, const transfer& t, const signal_update* s, outstanding_operation& op);
  void get(scheduled_block& a, const transfer& t, outstanding_operation& op);
  void signal(scheduled_block& a, const signal_update& s, outstanding_operation& op);
  // `done`: for each operation that the card does for the call.
  void atomic(scheduled_block& a, const atomic_call& c, const atomic_done& done);
  void fence(const scheduled_block& a, int context);
  void quiet(scheduled_block& a, int context);

  // ---- turns of cards ----

  bool idle();
  void step();
  // Whether nothing is outstanding but atomic operations that blocks wait for.
  bool settled() const;
  // Why a block waits for a completion that will not come; nothing if none does.
  std::optional<finding> stuck() const;

 private:
  struct posted {
    outstanding_operation* op = nullptr;
    const atomic_done* atomic = nullptr;
    const char* what = "";
    where at{"", 0};
    bool blocking = false;  // its call returns when the source has been read
    bool get = false;
    bool released = false;
    bool applied = false;
  };
  struct queue {
    scheduled_block* from = nullptr;
    int context = 0;
    int peer = 0;
    std::unique_ptr<wire::queue_memory> memory;
    std::unique_ptr<wire::card_queue> card;
    std::uint64_t first = 0;
    std::deque<posted> entries;  // by number, from `oldest` on
    std::uint64_t oldest = 0;
    posted now;  // what is being posted
    // As the card sees it.
    std::vector<wire::entry> ring;
    std::vector<std::optional<wire::entry>> ahead;  // slots that it has read ahead
    std::uint64_t record = 0;
    std::uint64_t doorbell = 0;
    bool rung = false;
    bool retried = false;
    std::vector<std::uint64_t*> dirty;  // words that it does not see yet
    std::uint64_t done = 0;             // the card is done with all before this number
    std::uint64_t completions = 0;
    std::uint32_t out = 0;  // outstanding operations
    bool waiting = false;

    const wire::queue_pair& pair() const { return memory->pair(); }
    // The newest entry that was given this slot.
    std::uint64_t number_in(std::uint64_t slot) const {
      const std::uint64_t last = pair().state->reserved - 1;
      return last - ((last - slot) & (pair().depth - 1));
    }
    std::uint64_t number_of(std::uint16_t index) const { return wire::unwrapped(done, index); }
    // Null: nobody has posted it.
    posted* entry_at(std::uint64_t number) {
      return number >= oldest && number - oldest < entries.size() ? &entries[number - oldest] : nullptr;
    }
  };
  class bus;
  // What a card could do next.
  struct possible {
    enum class kind { show, doorbell, record, work };
    queue* of;
    kind what;
    std::size_t word = 0;
    wire::card_queue::choice choice{};
  };

  queue& to(scheduled_block& a, int context, int peer);
  template <class F>
  void call(queue& q, const posted& p, const F& f);
  void show(queue& q, std::uint64_t* word);
  void release(queue& q);
  void check_told(queue& q, std::uint64_t end, const char* by);
  void check_fenced(queue& q, std::uint64_t number, const outstanding_operation& op);
  void raise(queue& q, std::uint64_t number, outstanding_operation& op, std::uint64_t value);
  void finish(queue& q, outstanding_operation& op);
  void fail(queue& q, std::uint64_t number, const std::string& text);
  static std::string entry_text(queue& q, std::uint64_t number);
  void collect(std::vector<possible>& all);
  queue& queue_of(std::uint32_t number) { return *queues_[number - 1]; }

  wire::entry fetch(const wire::entry_name& of, const wire::entry& place) override;
  std::uint64_t look(const std::uint64_t& word) override;
  void gather(const wire::entry_name& of, const void* from, void* to, std::size_t bytes) override;
  void scatter(const wire::entry_name& of, void* to, const void* from, std::size_t bytes) override;
  std::uint64_t change(const wire::entry_name& of, void* word, const wire::order& what) override;
  void complete(const wire::entry_name& of, wire::completion& place, const wire::completion& value) override;
  void done(const wire::entry_name& of) override;
  std::size_t piece(std::size_t left) override;

  network& network_;
  card_events& events_;
  random& random_;
  const card_setting* setting_ = nullptr;
  bool canonical_ = false;
  std::vector<std::unique_ptr<queue>> queues_;                  // by number, from 1 on
  std::vector<possible> steps_;                                 // that idle() has found
  std::map<std::tuple<int, int, int>, std::uint32_t> numbers_;  // by block, context and PE
};

}  // namespace starling::check
