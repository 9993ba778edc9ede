// What the warps of tall tiles send each other, as packets: each warp exchanges the cells at both sides of its band
// with the same band of the tiles there, and the first and last bands of tiles one above the other exchange their rows.
// See tiles.hpp for why two slots are enough; here it holds for each packet of a warp, whose lanes meet between taking
// it and sending its like.
#pragma once

#include "starling/device/block.hpp"
#include "stencil/tall_band.hpp"

namespace starling::stencil {

// Where a tile's packets for a neighbour go and where those of the neighbour come.
struct tall_link {
  int pe;   // of the neighbour, or no_neighbour
  int out;  // first packet, in a slot of its mail
  int in;   // the same in the own mail
};

inline constexpr int tall_links_of_tile = 4;

// Block: block, or what plays one.
template <class T, class Band, class Block = block>
class tall_links {
 public:
  using vector = cell_vector<T>;
  static constexpr int each_packet = static_cast<int>(elements_per_packet<T>);
  static constexpr int packets_of_vector = vector::width / each_packet;

  tall_links(const tall_links&) = delete;
  STARLING_HD tall_links(Block& b, const tiling& t, const tile_mail<T>& mail)
      : b_(b), t_(t), mail_(mail.packets), links_(b.template scratch<tall_link>(tall_links_of_tile)) {}

  // Ends with a barrier of the block.
  STARLING_HD void plan(const geometry& g) {
    const auto packets = static_cast<int>(t_.mail_per_block());
    for (int i = b_.member(); i < tall_links_of_tile; i += b_.members()) {
      const int d = i == north || i == south ? direction_number(0, i == north ? -1 : 1, 0)
                                             : direction_number(0, 0, i == west ? -1 : 1);
      const tile_place to = beside(g, t_, b_.pe(), b_.index(), direction(d));
      links_[i] = {to.pe, to.block * packets + static_cast<int>(t_.start[opposite_direction(d)]),
                   b_.index() * packets + static_cast<int>(t_.start[d])};
    }
    b_.sync();
  }

  // ---- a message, in the pieces in which a step makes the band ----

  // What a piece has at its sides, and with the last one what is at the tile's ends. What shares a packet with the next
  // piece goes with that one.
  template <class Lanes>
  STARLING_HD void send(index_t message, int piece, const Band& band, const Lanes& lanes) const {
    lanes.sync();  // the cells at sides are other lanes'
    const sym<packet> slot = mail_ + t_.mail_slot(message);
    for (const int side : {west, east}) {
      const tall_link to = links_[side];
      if (to.pe == no_neighbour) continue;
      const T* cells = band.side(side == east);
      each_packet_of(band, made(band, piece - 1), made(band, piece), piece, [&](int k, const index_range& rows) {
        put(slot + (to.out + k), message, to.pe,
            [&](int i) { return rows.begin + i < rows.end ? cells[rows.begin + i] : T(); });
      });
    }
    if (piece != Band::last_piece) return;
    if (band.is_first()) send_row(slot, message, links_[north], band, band.first());
    if (band.is_last()) send_row(slot, message, links_[south], band, band.last());
  }

  // What lies beside a piece, to where the step reads it, and with the last one what lies beyond the tile's ends.
  template <class Lanes>
  STARLING_HD void take(index_t message, int piece, const Band& band, const Lanes& lanes) const {
    const sym<packet> slot = mail_ + t_.mail_slot(message);
    const tall_link from[tall_sides] = {links_[west], links_[east]};
    each_packet_of(band, needed(band, piece - 1), needed(band, piece), piece, [&](int k, const index_range& rows) {
      b_.thread().template take_packets<T, tall_sides>(
          [&](auto i) { return from[i].pe != no_neighbour; }, [&](auto i) { return slot + (from[i].in + k); },
          static_cast<std::uint64_t>(message), [&](auto i) { return from[i].pe; },
          [&](auto i, const packet_content<T>& c) {
            unrolled<each_packet>([&](auto j) {
              if (rows.begin + j < rows.end) band.side(i == 1)[rows.begin + j] = c.element[j];
            });
          });
    });
    if (piece == Band::last_piece) {
      if (band.is_first()) take_row(slot, message, links_[north], band, band.before());
      if (band.is_last()) take_row(slot, message, links_[south], band, band.after());
    }
    lanes.sync();
  }

 private:
  enum link { north, south, west, east };

  // A band's packets for a side: the first has the cell of its first row, which is made last, and the others those of
  // the rows behind. How many there are; how many have to be there for a step to make the pieces up to one, and how
  // many it has made then, the first packet and those of the last piece left out.
  STARLING_HD static int all(const Band& band) { return 1 + up(band.end_row() - band.first_row() - 1); }
  STARLING_HD static int needed(const Band& band, int piece) { return 1 + up(rows_made(band, piece)); }
  STARLING_HD static int made(const Band& band, int piece) { return 1 + rows_made(band, piece) / each_packet; }
  STARLING_HD static int rows_made(const Band& band, int piece) {
    return piece < 0 ? 0 : band.end_of_part(piece) - band.first_row() - 1;
  }
  STARLING_HD static int up(int cells) { return (cells + each_packet - 1) / each_packet; }

  // f(number among the tile's, rows) for those of the packets from `begin` to `end` that this lane has; with the last
  // piece all others, and the first.
  template <class F>
  STARLING_HD static void each_packet_of(const Band& band, int begin, int end, int piece, const F& f) {
    const int count = all(band);
    if (piece == Band::last_piece) end = count + 1;
    for (int i = begin + band.lane(); i < end; i += band_vectors) {
      const int k = i == count ? 0 : i;
      const int first = band.first_row() + (k == 0 ? 0 : 1 + (k - 1) * each_packet);
      f(band.first_row() / each_packet + band.number() + k, index_range{first, k == 0 ? first + 1 : band.end_row()});
    }
  }

  template <class F>
  STARLING_HD void put(sym<packet> to, index_t message, int pe, const F& cell) const {
    packet_content<T> c{};
    unrolled<each_packet>([&](auto i) { c.element[i] = cell(i); });
    b_.thread().template put_packets<T>(to, [&](index_t) { return c; }, 1, static_cast<std::uint64_t>(message), pe);
  }

  // Of the packets of a row this lane has those with cells of its vector.
  STARLING_HD static bool has_packet(const Band& band, int i) {
    return band.lane() * vector::width + i * each_packet < band.cells_in_row();
  }

  STARLING_HD void send_row(sym<packet> slot, index_t message, const tall_link& to, const Band& band,
                            const vector& row) const {
    if (to.pe == no_neighbour) return;
    unrolled<packets_of_vector>([&](auto i) {
      if (has_packet(band, i))
        put(slot + (to.out + band.lane() * packets_of_vector + i), message, to.pe,
            [&](auto j) { return row.cell[decltype(i)::value * each_packet + decltype(j)::value]; });
    });
  }

  STARLING_HD void take_row(sym<packet> slot, index_t message, const tall_link& from, const Band& band,
                            vector& row) const {
    if (from.pe == no_neighbour) return;
    b_.thread().template take_packets<T, packets_of_vector>(
        [&](auto i) { return has_packet(band, i); },
        [&](auto i) { return slot + (from.in + band.lane() * packets_of_vector + i); },
        static_cast<std::uint64_t>(message), [&](auto) { return from.pe; },
        [&](auto i, const packet_content<T>& c) {
          unrolled<each_packet>([&](auto j) { row.cell[decltype(i)::value * each_packet + j] = c.element[j]; });
        });
  }

  Block& b_;
  const tiling& t_;
  sym<packet> mail_;
  tall_link* links_;
};

}  // namespace starling::stencil
