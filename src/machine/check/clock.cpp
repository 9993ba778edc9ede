#include "clock.hpp"

#include <algorithm>
#include <bit>

#include "network.hpp"

namespace starling::check {

void clock::reset(std::size_t n_blocks, int n_pes) {
  now_ = 0;
  blocks_.assign(n_blocks, {0, any_pe, std::vector<double>(static_cast<std::size_t>(n_pes), 0)});
  links_.assign(static_cast<std::size_t>(n_pes), {});
  cards_ = links_;
}

scheduled_block* clock::first_of(const std::vector<scheduled_block*>& ready) const {
  const auto first =
      std::min_element(ready.begin(), ready.end(), [&](const scheduled_block* a, const scheduled_block* b) {
        return of(*a) != of(*b) ? of(*a) < of(*b) : a->number < b->number;
      });
  return first == ready.end() ? nullptr : *first;
}

void clock::wake(const scheduled_block& a) {
  double& time = blocks_[index(a)].time;
  time = std::max(time, now_);
}

void clock::add_bytes(const scheduled_block& a, std::uint64_t touched) {
  blocks_[index(a)].time += std::popcount(touched) / costs_.memory_rate;
}

void clock::add_answer(const scheduled_block& a, int pe, std::size_t bytes) {
  if (pe == a.pe) return;
  const flight_costs& w = way(a.pe, pe);
  blocks_[index(a)].time += 2 * w.packet + w.message + static_cast<double>(bytes) / w.rate;
}

void clock::add_taken(const scheduled_block& a, const wait_request& w) {
  of_block& b = blocks_[index(a)];
  if (!is_of_packet(w) || w.from == b.sender) return;
  b.sender = w.from;
  b.time += costs_.next_sender;
}

double clock::arrival(const outstanding_operation& op) {
  of_block& b = blocks_[index(*op.from)];
  const int pe = op.from->pe;
  const flight_costs& w = way(pe, op.pe);
  const bool packet = op.raises && !op.update.orders;
  const double flight = packet ? w.packet : w.signal;
  double& last = b.arrivals[static_cast<std::size_t>(op.pe)];
  if (pe == op.pe) return last = std::max(last, b.time + flight);
  // A packet is twice its data.
  const double data = static_cast<double>(op.move.count > 0 ? op.move.count : 0) * static_cast<double>(op.move.element);
  const double taken = w.message + (packet ? 2 * data : data) / w.rate;
  std::vector<ends>& all = apart(pe, op.pe) ? cards_ : links_;
  double& out = all[static_cast<std::size_t>(pe)].out;
  out = std::max(out, b.time) + taken;
  // Stores are the block's own work, which a card takes off it.
  if (!apart(pe, op.pe)) b.time = out;
  double& in = all[static_cast<std::size_t>(op.pe)].in;
  in = std::max(in + taken, out + flight);
  return last = std::max(last, in);
}

}  // namespace starling::check
