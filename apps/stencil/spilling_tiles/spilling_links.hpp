// What the warps of spilling register tiles send each other, as packets: each warp exchanges the cells at both sides of
// its band with the same band of the tiles there, and the first and last bands of tiles one above the other exchange
// their rows. See tiles.hpp for why two slots are enough; here it holds for each packet of a warp, whose lanes meet
// between taking it and sending its like.
#pragma once

#include "starling/device/block.hpp"
#include "stencil/spilling_tiles/spilling_band.hpp"

namespace starling::stencil {

// Where a tile's packets for a neighbour go and where those of the neighbour come.
struct spilling_link {
  int pe;   // of the neighbour, or no_neighbour
  int out;  // first packet, in a slot of its packet buffer
  int in;   // the same in the own packet buffer
};

inline constexpr int spilling_links_of_tile = 4;

// Block: block, or what plays one.
template <class T, class Band, class Block = block>
class spilling_links {
 public:
  static constexpr int each_packet = static_cast<int>(elements_per_packet<T>);
  using content = packet_content<T>;

  spilling_links(const spilling_links&) = delete;
  STARLING_HD spilling_links(Block& b, const tiling& t, sym<packet> packet_buffer)
      : b_(b),
        t_(t),
        packet_buffer_(packet_buffer),
        links_(b.template scratch<spilling_link>(spilling_links_of_tile)) {}

  // Ends with a barrier of the block.
  STARLING_HD void plan(const geometry& g) {
    const auto packets = static_cast<int>(t_.packets_per_block());
    for (int i = b_.member(); i < spilling_links_of_tile; i += b_.members()) {
      const int d = i == north || i == south ? direction_number(0, i == north ? -1 : 1, 0)
                                             : direction_number(0, 0, i == west ? -1 : 1);
      const tile_place to = beside(g, t_, b_.pe(), b_.index(), direction(d));
      links_[i] = {to.pe, to.block * packets + static_cast<int>(t_.start[opposite_direction(d)]),
                   b_.index() * packets + static_cast<int>(t_.start[d])};
    }
    b_.sync();
  }

  // Where a message's packets are in the packet buffer.
  STARLING_HD int slot(index_t message) const { return static_cast<int>(t_.packet_slot(message)); }

  // ---- a message, in the pieces in which a step makes the band: calls of all lanes of a warp ----

  // What a piece has at its sides, and with the last one what is at the tile's ends. What shares a packet with the next
  // piece goes with that one.
  template <class Lanes>
  STARLING_HD void send(index_t message, int slot, const spilling_piece& piece, const Band& band,
                        const Lanes& lanes) const {
    const int begin = piece.sent.begin / each_packet;
    const int end = piece.last ? all_packets(band) : piece.sent.end / each_packet;
    if (begin == end) return;
    const int first = band.first_packet() + begin;
    put(slot, message, links_[west], first, band.side(false) + first, end - begin, band.lane(), lanes);
    put(slot, message, links_[east], first, band.side(true) + first, end - begin, band.lane(), lanes);
    if (!piece.last) return;
    if (band.is_first())
      put(slot, message, links_[north], 0, band.first_row(), up(band.cells_in_row()), band.lane(), lanes);
    if (band.is_last())
      put(slot, message, links_[south], 0, band.last_row(), up(band.cells_in_row()), band.lane(), lanes);
  }

  // What lies beside the rows that a piece takes, to where the step reads it, and what lies beyond the tile's ends.
  template <class Lanes>
  STARLING_HD void take(index_t message, int slot, const spilling_piece& piece, const Band& band,
                        const Lanes& lanes) const {
    const int begin = up(piece.taken.begin);
    const int end = piece.takes_ends ? all_packets(band) : up(piece.taken.end);
    if (begin == end) return;
    const int first = band.first_packet() + begin;
    take_some<spilling_sides>(slot, message, band.lane(), end - begin, [&](auto side, int k) {
      const spilling_link from = links_[side == 0 ? west : east];
      return incoming{from.pe, from.in + first + k, band.side(side == 1) + (first + k)};
    });
    if (piece.takes_ends) {
      const int cells = up(band.cells_in_row());
      if (band.is_first()) take_row(slot, message, links_[north], band.lane(), band.row_before(), cells);
      if (band.is_last()) take_row(slot, message, links_[south], band.lane(), band.row_behind(), cells);
    }
    lanes.sync();
  }

 private:
  enum link { north, south, west, east };

  // A band's packets for a side have the cells of its rows from the second on, and the last packet that of the first
  // row, which is made last.
  STARLING_HD static int all_packets(const Band& band) { return up(band.rows() - 1) + 1; }
  STARLING_HD static int up(int cells) { return (cells + each_packet - 1) / each_packet; }

  // So many packets from `first` of the packet buffer on.
  template <class Lanes>
  STARLING_HD void put(int slot, index_t message, const spilling_link& to, int first, const content* from, int packets,
                       int lane, const Lanes& lanes) const {
    const int pe = lanes.uniform(to.pe);
    if (pe == no_neighbour) return;
    for (int some = 0; some < packets; some += band_vectors) {
      const int k = some + lane;
      b_.warp().template put_packet_each<T>(
          k < packets, packet_buffer_ + (slot + to.out + first + k), [&] { return from[k]; },
          static_cast<std::uint64_t>(message), pe);
    }
  }

  // Where a packet comes from and goes to.
  struct incoming {
    int pe;
    int packet;
    content* to;
  };

  // N times so many packets: of packet k of each i there is where(i, k).
  template <int N, class Where>
  STARLING_HD void take_some(int slot, index_t message, int lane, int packets, const Where& where) const {
    for (int some = 0; some < packets; some += band_vectors) {
      const int k = some + lane;
      b_.warp().template take_packets_together<T, N>(
          [&](auto i) { return k < packets && where(i, k).pe != no_neighbour; },
          [&](auto i) { return packet_buffer_ + (slot + where(i, k).packet); }, static_cast<std::uint64_t>(message),
          [&](auto i) { return where(i, k).pe; }, [&](auto i, const content& c) { *where(i, k).to = c; });
    }
  }
  STARLING_HD void take_row(int slot, index_t message, const spilling_link& from, int lane, content* to,
                            int packets) const {
    take_some<1>(slot, message, lane, packets, [&](auto, int k) { return incoming{from.pe, from.in + k, to + k}; });
  }

  Block& b_;
  const tiling& t_;
  sym<packet> packet_buffer_;
  spilling_link* links_;
};

}  // namespace starling::stencil
