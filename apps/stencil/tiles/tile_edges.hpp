// The edges of a tile as packets: which packet carries which cells, where it goes, and what comes back. Worked out
// once; a step only takes and sends.
#pragma once

#include "starling/device/block.hpp"
#include "stencil/tiles/tile_cells.hpp"

namespace starling::stencil {

// Where the packets of a direction go.
struct route {
  int out;  // first packet, in a slot of the receiver's packet buffer
  int pe;   // no_neighbour: nowhere
};

// What one packet carries: a cell at an edge of the tile, and the next one along the axis that packets run along. What
// the packet from there brings are the same cells `depth` layers beyond the edge.
namespace edge_facts {
inline constexpr int there = 1;
inline constexpr int two = 2;
inline constexpr int first_updated = 4;
inline constexpr int second_updated = 8;
inline constexpr int down = 16;  // the second is in the next row, else it is the next one of the row
inline constexpr int direction_shift = 8;
}  // namespace edge_facts

struct tile_edge {
  int cell = 0;  // both in the array in shared memory
  int ghost = 0;
  int facts = 0;
};

// Bytes of shared memory that a block of so many threads has for its list. Threads that have at most one packet keep it
// in registers.
constexpr index_t edge_list_bytes(const tiling& t, int threads) {
  if (t.packets_per_block() <= threads) return 0;
  return t.packets_per_block() * static_cast<index_t>(sizeof(tile_edge));
}

// Ahead: cells at edges are computed and sent before the others, which needs all of them, as they were, in the array.
// Listed: threads may have more than one packet.
template <class T, int Dimensions, bool Ahead, bool Listed = true>
class tile_edges {
 public:
  using cells = tile_cells<T, Dimensions>;
  using edge = tile_edge;
  static constexpr int each_packet = static_cast<int>(elements_per_packet<T>);
  static constexpr bool ahead = Ahead;

  STARLING_HD tile_edges(block& b, const tiling& t, sym<packet> packet_buffer)
      : b_(b),
        t_(t),
        packet_buffer_(packet_buffer),
        packets_(static_cast<int>(t.packets_per_block())),
        routes_(b.scratch<route>(directions)),
        list_(Listed && packets_ > b.members() ? b.scratch<edge>(packets_) : nullptr) {}

  // Has a barrier of the block, before it reads `mine`. What a thread has of the list it alone uses.
  STARLING_HD void plan(const geometry& g, const tile& mine, bool compute) {
    for (int d = b_.member(); d < directions; d += b_.members()) {
      const tile_place to = beside(g, t_, b_.pe(), b_.index(), direction(d));
      const bool used = t_.start[d + 1] > t_.start[d] && to.pe != no_neighbour;
      routes_[d] = {to.block * packets_ + static_cast<int>(t_.start[opposite_direction(d)]),
                    used ? to.pe : no_neighbour};
    }
    b_.sync();
    const int first = b_.member();
    if (listed()) {
      for (int k = first; k < packets_; k += b_.members()) list_[k] = made(mine, compute, k);
    } else if (first < packets_) {
      own_ = made(mine, compute, first);
      own_route_ = route_of(own_, first);
    }
  }

  // The neighbours' cells of a message into the ghost zones of `now` and, if `both`, of `other`.
  STARLING_HD void take(index_t message, const cells& now, const cells& other, bool both) const {
    const auto number = static_cast<std::uint64_t>(message);
    const sym<packet> slot = packet_buffer_ + (t_.packet_slot(message) + index_t{b_.index()} * packets_);
    const auto keep = [&](const edge& e, const packet_content<T>& c) {
      put_into_ghost_zone(now, e, c);
      if (both) put_into_ghost_zone(other, e, c);
    };
    if (!listed()) {
      if (!is(own_, edge_facts::there)) return;
      keep(own_, b_.thread().template take_packet<T>(slot + b_.member(), number, own_route_.pe));
      return;
    }
    constexpr int together = target::on_gpu ? 8 : 4;
    for (int k = b_.member(); k < packets_; k += together * b_.members()) {
      edge e[together];
      unrolled<together>([&](auto i) {
        const int at = k + i * b_.members();
        e[i] = at < packets_ ? list_[at] : edge{};
      });
      b_.thread().template take_packets<T, together>([&](auto i) { return is(e[i], edge_facts::there); },
                                                     [&](auto i) { return slot + (index_t{k} + i * b_.members()); },
                                                     number, [&](auto i) { return routes_[number_of(e[i])].pe; },
                                                     [&](auto i, const packet_content<T>& c) { keep(e[i], c); });
    }
  }

  // The edges' cells as they are.
  STARLING_HD void send(index_t message, const cells& now) const {
    send_values(message, [&](const edge& e, packet_content<T>& c) {
      c.element[0] = *cell(now, e, false);
      if constexpr (each_packet == 2)
        if (is(e, edge_facts::two)) c.element[1] = *cell(now, e, true);
    });
  }

  // The edges' cells after one more step than `from` has seen.
  STARLING_HD void send_next(index_t message, const cells& from, const coefficients<T>& w) const {
    send_values(message, [&](const edge& e, packet_content<T>& c) {
      // What both need is loaded before either is computed.
      const surroundings<T> first = around(from, e, false);
      surroundings<T> second{};
      if constexpr (each_packet == 2) second = around(from, e, is(e, edge_facts::two));
      c.element[0] = is(e, edge_facts::first_updated) ? relaxed<Dimensions>(w, first) : first.centre;
      if constexpr (each_packet == 2)
        c.element[1] = is(e, edge_facts::second_updated) ? relaxed<Dimensions>(w, second) : second.centre;
    });
  }

 private:
  STARLING_HD bool listed() const { return Listed && list_ != nullptr; }
  STARLING_HD static bool is(const edge& e, int fact) { return (e.facts & fact) != 0; }
  STARLING_HD static int number_of(const edge& e) { return e.facts >> edge_facts::direction_shift; }
  STARLING_HD int to_second(const edge& e) const { return is(e, edge_facts::down) ? t_.shared.stride[1] : 1; }

  STARLING_HD T* cell(const cells& c, const edge& e, bool second) const {
    return c.shared + e.cell + (second ? to_second(e) : 0);
  }
  STARLING_HD surroundings<T> around(const cells& c, const edge& e, bool second) const {
    return c.around(cell(c, e, second));
  }
  STARLING_HD T* ghost(const cells& c, const edge& e, bool second) const {
    return c.shared + e.ghost + (second ? to_second(e) : 0);
  }

  STARLING_HD route route_of(const edge& e, int k) const {
    if (!is(e, edge_facts::there)) return {0, no_neighbour};
    const int d = number_of(e);
    return {routes_[d].out + (k - static_cast<int>(t_.start[d])), routes_[d].pe};
  }

  STARLING_HD void put_into_ghost_zone(const cells& c, const edge& e, const packet_content<T>& content) const {
    *ghost(c, e, false) = content.element[0];
    if constexpr (each_packet == 2)
      if (is(e, edge_facts::two)) *ghost(c, e, true) = content.element[1];
  }

  // fill(edge, content)
  template <class F>
  STARLING_HD void send_values(index_t message, const F& fill) const {
    const sym<packet> slot = packet_buffer_ + t_.packet_slot(message);
    const auto send_one = [&](const edge& e, const route& to) {
      packet_content<T> c{};
      fill(e, c);
      b_.thread().template put_packets<T>(
          slot + to.out, [&](index_t) { return c; }, 1, static_cast<std::uint64_t>(message), to.pe);
    };
    if (!listed()) {
      if (is(own_, edge_facts::there)) send_one(own_, own_route_);
      return;
    }
    for (int k = b_.member(); k < packets_; k += b_.members()) {
      const edge e = list_[k];
      if (is(e, edge_facts::there)) send_one(e, route_of(e, k));
    }
  }

  // ---- once ----

  // Packets are numbered as in the largest tile, so that neighbours agree.
  STARLING_HD edge made(const tile& mine, bool compute, int k) const {
    int number = 0;
    while (k >= t_.start[number + 1]) ++number;
    edge e{};
    if (routes_[number].pe == no_neighbour) return e;
    const direction d(number);
    k -= static_cast<int>(t_.start[number]);
    const bool down = d.fast() == 1;
    const int fast = down ? 1 : 2;
    const int middle = down ? 2 : 1;
    const auto sent = [&](int axis) { return static_cast<int>(extent_sent(d, axis, t_.largest[axis], t_.depth)); };
    const int per_line = (sent(fast) + each_packet - 1) / each_packet;
    const int in_line = k % per_line * each_packet;
    const int line = k / per_line;
    const int in_box[axes] = {line / sent(middle), down ? in_line : line % sent(middle),
                              down ? line % sent(middle) : in_line};
    bool in_tile = true;
    int at[axes];
    unrolled<axes>([&](auto axis) {
      const int here = static_cast<int>(extent_sent(d, axis, mine.extent[axis], t_.depth));
      in_tile = in_tile && in_box[axis] < here;
      at[axis] = in_box[axis] + (d.step[axis] > 0 ? mine.extent[axis] - t_.depth : 0);
    });
    if (!in_tile) return e;
    const bool two = each_packet == 2 && in_line + 1 < extent_sent(d, fast, mine.extent[fast], t_.depth);
    const bool first_updated = compute && updated(mine, at[0], at[1], at[2]);
    const bool second_updated = two && compute && updated(mine, at[0], at[1] + (down ? 1 : 0), at[2] + (down ? 0 : 1));
    e.facts = edge_facts::there | (two ? edge_facts::two : 0) | (first_updated ? edge_facts::first_updated : 0) |
              (second_updated ? edge_facts::second_updated : 0) | (down ? edge_facts::down : 0) |
              (number << edge_facts::direction_shift);
    e.cell = t_.shared.at(at[0], at[1], at[2]);
    e.ghost = t_.shared.at(at[0] + t_.depth * d.step[0], at[1] + t_.depth * d.step[1], at[2] + t_.depth * d.step[2]);
    return e;
  }

  STARLING_HD static bool updated(const tile& mine, int z, int y, int x) {
    return z >= mine.updated_begin[0] && z < mine.updated_end[0] && y >= mine.updated_begin[1] &&
           y < mine.updated_end[1] && x >= mine.updated_begin[2] && x < mine.updated_end[2];
  }

  block& b_;
  const tiling& t_;
  sym<packet> packet_buffer_;
  int packets_;
  route* routes_;
  edge* list_;
  edge own_{};
  route own_route_{};
};

}  // namespace starling::stencil
