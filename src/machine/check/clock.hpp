// The time of a simulation: when each block has its turn and each operation arrives, by what calls, flights and
// computing cost. A block's own time runs ahead of the simulation's until its turn comes.
//
// A link and a card are taken by one message after another, at both ends. Blocks of a PE compute beside one another:
// each at the memory's whole rate, which is so to be set for a block and not for a PE.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduled_block.hpp"
#include "starling/machine/simulation.hpp"

namespace starling::check {

struct outstanding_operation;

// Whether a wait is for a packet: it is the number of one that is awaited.
inline bool is_of_packet(const wait_request& w) {
  return w.how == compare::eq && w.op != operation::wait_until && w.op != operation::wait_until_any;
}

class clock {
 public:
  explicit clock(const simulation_costs& costs) : costs_(costs) {}

  // A schedule begins.
  void reset(std::size_t n_blocks, int n_pes);

  double now() const { return now_; }
  double of(const scheduled_block& a) const { return blocks_[index(a)].time; }
  // Who has the least time; null if there is nobody.
  scheduled_block* first_of(const std::vector<scheduled_block*>& ready) const;

  // The simulation comes to this time.
  void pass_to(double time) { now_ = time > now_ ? time : now_; }
  // A block that has waited goes on now.
  void wake(const scheduled_block& a);

  // What the block's time grows by: a call; having taken what has come; its part in a meeting; bytes of a line of
  // memory that it has touched; having asked another PE for something, and waited for the answer.
  void add_call(const scheduled_block& a, const call& c) {
    blocks_[index(a)].time += c.packet ? costs_.packet_call : costs_.call;
  }
  void add_taken(const scheduled_block& a, const wait_request& w);
  void add_meeting(const scheduled_block& a) { blocks_[index(a)].time += costs_.meeting; }
  void add_bytes(const scheduled_block& a, std::uint64_t touched);
  void add_answer(const scheduled_block& a, int pe, std::size_t bytes);
  // The block's last: its end may be that of the simulation.
  void end(const scheduled_block& a) { pass_to(of(a)); }

  // When an operation that is sent now arrives. Those of a block to a PE arrive in their order.
  double arrival(const outstanding_operation& op);

 private:
  struct of_block {
    double time = 0;
    int sender = any_pe;           // of the packet that it took last
    std::vector<double> arrivals;  // the last one, by PE
  };
  struct ends {
    double out = 0;  // free again
    double in = 0;
  };
  static std::size_t index(const scheduled_block& a) { return static_cast<std::size_t>(a.number); }
  bool apart(int pe, int peer) const {
    return costs_.pes_per_host > 0 && pe / costs_.pes_per_host != peer / costs_.pes_per_host;
  }
  const flight_costs& way(int pe, int peer) const {
    return pe == peer ? costs_.own : apart(pe, peer) ? costs_.between : costs_.host;
  }

  simulation_costs costs_;
  double now_ = 0;
  std::vector<of_block> blocks_;
  std::vector<ends> links_, cards_;  // by PE
};

}  // namespace starling::check
