#include "stencil/resident_kernels.hpp"

#include "starling/device/block.hpp"
#include "stencil/tile_sweep.hpp"

namespace starling::stencil {
namespace {

// Where the packets of a direction go.
struct route {
  index_t out;  // first packet, in a slot of the receiver's mail
  int pe;       // no_neighbour: nowhere
};

// What one packet carries: a cell at an edge of the tile and the next one along the axis that packets run along; and
// what the packet from there brings, the same cells `depth` layers beyond the edge.
struct edge_cells {
  int at[axes];
  int facts;

  static constexpr int there = 1;
  static constexpr int two = 2;
  static constexpr int first_updated = 4;
  static constexpr int second_updated = 8;
  static constexpr int direction_shift = 8;
  STARLING_HD bool is(int fact) const { return (facts & fact) != 0; }
  STARLING_HD int number() const { return facts >> direction_shift; }
};

template <class T, int Dimensions, bool OneArray, bool Streams>
class tile_program {
 public:
  using cells = tile_cells<T, Dimensions, Streams>;
  static constexpr int arrays = OneArray ? 1 : 2;

  STARLING_HD tile_program(block& b, const resident_arguments<T>& a)
      : b_(b),
        a_(a),
        mine_(*b.scratch<tile>(1)),
        routes_(b.scratch<route>(directions)),
        listed_(listed(a.grid, b.members()) ? b.scratch<edge_cells>(a.grid.packets_per_block()) : nullptr),
        kept_(OneArray ? b.scratch<T>(2 * b.members()) : nullptr),
        chip_(b.scratch<T>(arrays * a.grid.chip.elements)),
        memory_(Streams ? a.memory.on(b.pe()) + b.index() * arrays * a.grid.memory.elements : nullptr) {}

  // Whether a list of the edges' cells is kept, as threads have more than one packet.
  STARLING_HD static constexpr bool listed(const tiling& t, int members) { return t.packets_per_block() > members; }

  STARLING_HD void run() {
    plan();
    load();
    const columns<Dimensions> mine(mine_, a_.grid.depth - 1, b_.member(), b_.members(), a_.grid.layers_on_chip);
    index_t message = a_.first_message;
    send_as_they_are(message);
    double checked = 0;
    int until_exchange = 0;
    index_t t = 1;
    for (; t <= a_.steps; ++t) {
      if (until_exchange == 0) {
        take(message, t);
        until_exchange = a_.grid.depth;
      }
      --until_exchange;
      b_.any(false);  // a barrier that ends the threads whose block has lost some in a wait
      const bool check = a_.check_every > 0 && t % a_.check_every == 0;
      if (until_exchange == 0 && t < a_.steps) send_computed(++message, array_of(t - 1));
      T change = 0;
      if (a_.compute) sweep(mine, until_exchange, t, check, change);
      if (!check) continue;
      checked = static_cast<double>(b_.all_reduce(b_.reduce(change, maximum{}), maximum{}));
      if (checked <= a_.tolerance) break;
    }
    if (t > a_.steps) t = a_.steps;
    b_.sync();
    store(t);
    if (b_.pe() == 0 && b_.index() == 0 && b_.member() == 0) *a_.status.on(0) = {a_.first + t, checked};
  }

 private:
  STARLING_HD cells array(int which) const {
    return {chip_ + which * a_.grid.chip.elements, memory_ + which * a_.grid.memory.elements, a_.grid};
  }
  // The array that holds the cells after t steps.
  STARLING_HD cells array_of(index_t t) const {
    if constexpr (OneArray) return array(0);
    return array(a_.compute ? static_cast<int>(t % 2) : 0);
  }

  // ---- once ----

  STARLING_HD void plan() {
    const box& own = *a_.f.own.on(b_.pe());
    if (b_.member() == 0) mine_ = tile_of(a_.f.shape, a_.grid, own, b_.index());
    for (int d = b_.member(); d < directions; d += b_.members()) {
      const tile_place to = beside(a_.f.shape, a_.grid, b_.pe(), b_.index(), direction(d));
      const bool used = a_.grid.start[d + 1] > a_.grid.start[d] && to.pe != no_neighbour;
      routes_[d] = {to.block * a_.grid.packets_per_block() + a_.grid.start[opposite_direction(d)],
                    used ? to.pe : no_neighbour};
    }
    b_.sync();
    if (listed_ != nullptr)
      for (index_t k = b_.member(); k < a_.grid.packets_per_block(); k += b_.members()) listed_[k] = edge(k);
    else
      own_edge_ = b_.member() < a_.grid.packets_per_block() ? edge(b_.member()) : edge_cells{};
    b_.sync();
  }

  // What packet k of this block carries.
  STARLING_HD edge_cells edge(index_t k) const {
    constexpr index_t each = elements_per_packet<T>;
    const tiling& g = a_.grid;
    int number = 0;
    while (k >= g.start[number + 1]) ++number;
    const direction d(number);
    k -= g.start[number];
    // Packets are numbered as in the largest tile, so that neighbours agree.
    const int fast = d.fast();
    const int middle = d.middle();
    const index_t per_line = ceil_div(extent_sent(d, fast, g.largest[fast], g.depth), each);
    const index_t lines = extent_sent(d, middle, g.largest[middle], g.depth);
    int in_box[axes]{};
    in_box[fast] = static_cast<int>(k % per_line * each);
    in_box[middle] = static_cast<int>(k / per_line % lines);
    in_box[0] = static_cast<int>(k / per_line / lines);
    edge_cells e{};
    if (routes_[number].pe == no_neighbour) return e;
    bool inside = true;
    bool two = each == 2;
    for (int axis = 0; axis < axes; ++axis) {
      const int sent = static_cast<int>(extent_sent(d, axis, mine_.extent[axis], g.depth));
      inside = inside && in_box[axis] < sent;
      if (axis == fast) two = two && in_box[axis] + 1 < sent;
      e.at[axis] = in_box[axis] + (d.step[axis] > 0 ? mine_.extent[axis] - g.depth : 0);
    }
    if (!inside) return e;
    e.facts = edge_cells::there | (two ? edge_cells::two : 0) | (number << edge_cells::direction_shift);
    int next[axes] = {e.at[0], e.at[1], e.at[2]};
    ++next[fast];
    if (updated(e.at)) e.facts |= edge_cells::first_updated;
    if (two && updated(next)) e.facts |= edge_cells::second_updated;
    return e;
  }

  STARLING_HD bool updated(const int (&at)[axes]) const {
    bool yes = a_.compute;
    for (int axis = 0; axis < axes; ++axis)
      yes = yes && at[axis] >= mine_.updated_begin[axis] && at[axis] < mine_.updated_end[axis];
    return yes;
  }

  // Held cells have to be in both arrays: no step writes them.
  STARLING_HD void load() {
    const T* from = a_.f.u[a_.first % 2].on(b_.pe());
    const cells first = array(0);
    const cells second = array(arrays - 1);
    each_cell([&](int z, int y, int x, index_t at) {
      const T value = from[at];
      *first.at(z, y, x) = value;
      if constexpr (!OneArray) *second.at(z, y, x) = value;
    });
    b_.sync();
  }

  STARLING_HD void store(index_t t) const {
    T* to = a_.f.u[(a_.first + t) % 2].on(b_.pe());
    const cells now = array_of(t);
    each_cell([&](int z, int y, int x, index_t at) { to[at] = *now.at(z, y, x); });
  }

  // f(z, y, x, place in the PE's array) for the tile's own cells.
  template <class F>
  STARLING_HD void each_cell(const F& f) const {
    const index_t* stride = a_.f.shape.stride;
    const index_t first = mine_.first[0] * stride[0] + mine_.first[1] * stride[1] + mine_.first[2];
    const index_range zs{0, mine_.extent[0]};
    b_.for_each(zs, {0, mine_.extent[1]}, {0, mine_.extent[2]}, [&](index_t z, index_t y, index_t x) {
      f(static_cast<int>(z), static_cast<int>(y), static_cast<int>(x), first + z * stride[0] + y * stride[1] + x);
    });
  }

  // ---- edges ----

  // f(k, what packet k carries) for those of this thread.
  template <class F>
  STARLING_HD void each_edge(const F& f) const {
    if (listed_ == nullptr) {
      if (own_edge_.is(edge_cells::there)) f(index_t{b_.member()}, own_edge_);
      return;
    }
    for (index_t k = b_.member(); k < a_.grid.packets_per_block(); k += b_.members()) {
      const edge_cells e = listed_[k];
      if (e.is(edge_cells::there)) f(k, e);
    }
  }

  // The neighbours' cells into the ring, after t - 1 steps.
  STARLING_HD void take(index_t message, index_t t) const {
    const cells now = array_of(t - 1);
    const cells other = array_of(t);
    const sym<packet> slot = a_.mail + (a_.grid.mail_slot(message) + b_.index() * a_.grid.packets_per_block());
    each_edge([&](index_t k, const edge_cells& e) {
      const direction d(e.number());
      const packet_content<T> c =
          b_.thread().template take_packet<T>(slot + k, static_cast<std::uint64_t>(message), routes_[e.number()].pe);
      const int depth = a_.grid.depth;
      const int z = e.at[0] + depth * d.step[0];
      const int y = e.at[1] + depth * d.step[1];
      const int x = e.at[2] + depth * d.step[2];
      keep(now, d, z, y, x, c, e.is(edge_cells::two));
      // Held cells of the ring have to be in both arrays too; no step has read the other one yet.
      if (!OneArray && t == 1 && a_.compute) keep(other, d, z, y, x, c, e.is(edge_cells::two));
    });
  }

  STARLING_HD static void keep(const cells& to, const direction& d, int z, int y, int x, const packet_content<T>& c,
                               bool two) {
    *to.at(z, y, x) = c.element[0];
    if constexpr (elements_per_packet<T> == 2)
      if (two) *to.at(z, y + (d.fast() == 1 ? 1 : 0), x + (d.fast() == 2 ? 1 : 0)) = c.element[1];
  }

  STARLING_HD void send_as_they_are(index_t message) const {
    const cells now = array_of(0);
    send(message, [&](int z, int y, int x, bool) { return *now.at(z, y, x); });
  }

  // The edges' cells after one more step than `from` has seen.
  STARLING_HD void send_computed(index_t message, const cells& from) const {
    send(message, [&](int z, int y, int x, bool updated) {
      return updated ? relaxed<Dimensions>(a_.f.weight, from.around(z, y, x)) : *from.at(z, y, x);
    });
  }

  template <class F>
  STARLING_HD void send(index_t message, const F& value) const {
    const sym<packet> slot = a_.mail + a_.grid.mail_slot(message);
    each_edge([&](index_t k, const edge_cells& e) {
      const direction d(e.number());
      packet_content<T> c{};
      c.element[0] = value(e.at[0], e.at[1], e.at[2], e.is(edge_cells::first_updated));
      if constexpr (elements_per_packet<T> == 2)
        if (e.is(edge_cells::two))
          c.element[1] = value(e.at[0], e.at[1] + (d.fast() == 1 ? 1 : 0), e.at[2] + (d.fast() == 2 ? 1 : 0),
                               e.is(edge_cells::second_updated));
      const route& to = routes_[e.number()];
      b_.thread().template put_packets<T>(
          slot + (to.out + (k - a_.grid.start[e.number()])), [&](index_t) { return c; }, 1,
          static_cast<std::uint64_t>(message), to.pe);
    });
  }

  // ---- all cells ----

  STARLING_HD void sweep(const columns<Dimensions>& mine, int reach, index_t t, bool check, T& change) const {
    if (check)
      sweep<true>(mine, reach, t, change);
    else
      sweep<false>(mine, reach, t, change);
  }

  template <bool Check>
  STARLING_HD void sweep(const columns<Dimensions>& mine, int reach, index_t t, T& change) const {
    const cells in = array_of(t - 1);
    const cells out = array_of(t);
    if constexpr (OneArray)
      one_array_sweep<T, Dimensions, Streams>(a_.f.weight, mine_, in, kept_)
          .template run<Check>(b_, mine, reach, change);
    else if constexpr (target::on_gpu)
      two_array_sweep<T, Dimensions, Streams>(a_.f.weight, mine_, in, out).template run<Check>(mine, reach, change);
    else
      two_array_sweep<T, Dimensions, Streams>(a_.f.weight, mine_, in, out).template run_rows<Check>(b_, reach, change);
  }

  block& b_;
  const resident_arguments<T>& a_;
  tile& mine_;
  route* routes_;
  edge_cells* listed_;
  T* kept_;
  T* chip_;
  T* memory_;
  edge_cells own_edge_{};
};

template <class T, int Dimensions, bool OneArray, bool Streams>
struct resident {
  resident_arguments<T> a;
  STARLING_HD void operator()(block& b) const { tile_program<T, Dimensions, OneArray, Streams>(b, a).run(); }
};

template <class T, int Dimensions>
kernel of_tiling(const resident_arguments<T>& a) {
  if (a.grid.in_place && a.grid.streams) return make_kernel(resident<T, Dimensions, true, true>{a});
  if (a.grid.in_place) return make_kernel(resident<T, Dimensions, true, false>{a});
  if (a.grid.streams) return make_kernel(resident<T, Dimensions, false, true>{a});
  return make_kernel(resident<T, Dimensions, false, false>{a});
}

}  // namespace

template <class T>
kernel resident_kernel(const resident_arguments<T>& a) {
  return a.f.shape.active[0] ? of_tiling<T, 3>(a) : of_tiling<T, 2>(a);
}

template <class T>
std::size_t resident_scratch(const tiling& t, int threads) {
  const auto room = [](index_t n, std::size_t bytes) {
    return static_cast<std::size_t>(round_up(n * static_cast<index_t>(bytes), 16));
  };
  const bool listed = t.packets_per_block() > threads;
  return room(1, sizeof(tile)) + room(directions, sizeof(route)) +
         (listed ? room(t.packets_per_block(), sizeof(edge_cells)) : 0) +
         (t.in_place ? room(2 * threads, sizeof(T)) : 0) + room((t.in_place ? 1 : 2) * t.chip.elements, sizeof(T));
}

template kernel resident_kernel(const resident_arguments<float>&);
template kernel resident_kernel(const resident_arguments<double>&);
template std::size_t resident_scratch<float>(const tiling&, int);
template std::size_t resident_scratch<double>(const tiling&, int);

}  // namespace starling::stencil
