// Partitioners over several dimensions at a time: the owners form a grid, and each dimension of a box is partitioned
// among the owners along one dimension of that grid. blocked_grid{2, 3} cuts a box of two dimensions into 2 x 3 blocks,
// for 6 owners; tiled_grid<8, 8>{2, 3} gives tiles of 8 x 8 coordinates to them in turn along each dimension,
// tiled_grid<1, 1> single coordinates. Owners are numbered as the elements of a row-major array of the grid's size. As
// other partitioners they say what a loop does where and, in data_place::composite, where data lies. One owner alone
// has all of a box. On the host a box of other dimensions than the grid, and another number of owners than it has, are
// argument_errors.
#pragma once

#include <concepts>
#include <cstdint>

#include "starling/stf/partition.hpp"

namespace starling::stf {

// Throw argument_error. Out of line, as what happens once at most.
[[noreturn]] void refuse_owner_grid(const std::int32_t* counts, int rank);
[[noreturn]] void refuse_owner_grid(const std::int32_t* counts, int rank, int shape_rank, index_t owners);

namespace detail {

// How many owners there are along each dimension.
template <int Rank>
class owner_grid {
 public:
  static_assert(Rank >= 1 && Rank <= 4, "a grid of owners has 1 to 4 dimensions");

  STARLING_HD constexpr owner_grid() {
    for (std::int32_t& n : counts_) n = 1;
  }
  template <std::integral... Counts>
    requires(sizeof...(Counts) == Rank)
  STARLING_HD constexpr explicit owner_grid(Counts... counts) : counts_{static_cast<std::int32_t>(counts)...} {
    if constexpr (!target::on_gpu)
      if (!((counts >= 1 && static_cast<std::int32_t>(counts) == static_cast<index_t>(counts)) && ...))
        refuse_owner_grid(counts_, Rank);
  }

  STARLING_HD constexpr index_t count(int d) const { return counts_[d]; }
  STARLING_HD constexpr coords<Rank> place_of(index_t owner) const {
    index_t counts[Rank];
    for (int d = 0; d < Rank; ++d) counts[d] = counts_[d];
    return digits_of<Rank>(owner, counts);
  }
  STARLING_HD constexpr index_t owner_at(const coords<Rank>& place) const {
    index_t owner = 0;
    for (int d = 0; d < Rank; ++d) owner = owner * counts_[d] + place[d];
    return owner;
  }
  // The grid for so many owners: one has everything.
  STARLING_HD constexpr owner_grid checked(int shape_rank, index_t owners) const {
    if constexpr (!target::on_gpu) {
      index_t all = 1;
      for (const std::int32_t n : counts_) all *= n;
      if (shape_rank != Rank || (owners != all && owners != 1)) refuse_owner_grid(counts_, Rank, shape_rank, owners);
    }
    return owners == 1 ? owner_grid() : *this;
  }

 private:
  std::int32_t counts_[Rank];
};

}  // namespace detail

// Contiguous blocks: what blocked does along one dimension, along all of them.
template <int Rank>
class blocked_grid {
 public:
  constexpr blocked_grid() = default;
  template <std::integral... Counts>
    requires(sizeof...(Counts) == Rank)
  STARLING_HD constexpr explicit blocked_grid(Counts... counts) : owners_(counts...) {}

  template <detail::box_like Shape>
  STARLING_HD constexpr auto part(const Shape& s, index_t which, index_t count) const {
    using box_type = detail::box_type_of<Shape>;
    constexpr int rank = box_type::rank();
    const auto owners = owners_.checked(rank, count);
    detail::check_owner(which, count);
    const coords<Rank> at = owners.place_of(which);
    index_range r[rank];
    for (int d = 0; d < rank && d < Rank; ++d) {
      const index_range mine = share(s.extent(d), owners.count(d), at[d]);
      r[d] = {s.lower(d) + mine.begin, s.lower(d) + mine.end};
    }
    return box_type(box<rank>(r));
  }
  template <detail::box_like Shape>
  STARLING_HD constexpr index_t owner(const typename Shape::coords_t& c, const Shape& s, index_t count) const {
    const auto owners = owners_.checked(Shape::rank(), count);
    coords<Rank> at{};
    for (int d = 0; d < Rank && d < Shape::rank(); ++d)
      at[d] = detail::sharer(s.extent(d), owners.count(d), c[d] - s.lower(d));
    return owners.owner_at(at);
  }

 private:
  detail::owner_grid<Rank> owners_;
};

template <std::integral... Counts>
blocked_grid(Counts...) -> blocked_grid<static_cast<int>(sizeof...(Counts))>;

// The tiles of one owner, as one shape: along dimension d of the box, tile at[d], at[d] + counts[d], ...
template <class Box, index_t... Tile>
class tiles_in_grid {
 public:
  static constexpr int n_dimensions = static_cast<int>(sizeof...(Tile));
  using coords_t = typename Box::coords_t;

  tiles_in_grid() = default;
  STARLING_HD constexpr tiles_in_grid(const Box& whole, const detail::owner_grid<n_dimensions>& owners,
                                      const coords_t& at)
      : whole_(whole), owners_(owners), at_(at) {
    index_range r[n_dimensions];
    for (int d = 0; d < n_dimensions; ++d) r[d] = {0, mine_of(d)};
    mine_ = Box(box<n_dimensions>(r));
  }

  STARLING_HD static constexpr int rank() { return n_dimensions; }
  STARLING_HD constexpr index_t size() const { return mine_.size(); }
  STARLING_HD constexpr coords_t index_to_coords(index_t i) const {
    coords_t c = mine_.index_to_coords(i);
    for (int d = 0; d < n_dimensions; ++d) {
      const index_t tile = c[d] / edge(d);
      c[d] += whole_.lower(d) + (tile * (owners_.count(d) - 1) + at_[d]) * edge(d);
    }
    return c;
  }
  STARLING_HD constexpr index_t coords_to_index(const coords_t& c) const {
    coords_t in_mine = c;
    for (int d = 0; d < n_dimensions; ++d) {
      const index_t x = c[d] - whole_.lower(d);
      in_mine[d] = x / edge(d) / owners_.count(d) * edge(d) + x % edge(d);
    }
    return mine_.coords_to_index(in_mine);
  }

  STARLING_HD constexpr shape_iterator<tiles_in_grid> begin() const { return {*this, 0}; }
  STARLING_HD constexpr shape_iterator<tiles_in_grid> end() const { return {*this, size()}; }

  STARLING_HD static constexpr index_t edge(int d) {
    constexpr index_t edges[] = {Tile...};
    return edges[d];
  }

 private:
  // How many coordinates along a dimension.
  STARLING_HD constexpr index_t mine_of(int d) const {
    const index_t n = whole_.extent(d);
    const index_t round = edge(d) * owners_.count(d);
    const index_t last = n % round - at_[d] * edge(d);  // of the last, incomplete round
    return n / round * edge(d) + (last < 0 ? 0 : last < edge(d) ? last : edge(d));
  }

  Box whole_{};
  detail::owner_grid<n_dimensions> owners_{};
  coords_t at_{};
  Box mine_{};
};

// Tiles of so many coordinates along each dimension go to one owner after the other along that dimension.
template <index_t... Tile>
class tiled_grid {
 public:
  static_assert(((Tile >= 1) && ...), "tiled_grid<N, M>: tiles have at least one coordinate along each dimension");
  static constexpr int n_dimensions = static_cast<int>(sizeof...(Tile));

  constexpr tiled_grid() = default;
  template <std::integral... Counts>
    requires(sizeof...(Counts) == sizeof...(Tile))
  STARLING_HD constexpr explicit tiled_grid(Counts... counts) : owners_(counts...) {}

  template <detail::box_like Shape>
    requires(detail::box_type_of<Shape>::rank() == n_dimensions)
  STARLING_HD constexpr auto part(const Shape& s, index_t which, index_t count) const {
    const auto owners = owners_.checked(n_dimensions, count);
    detail::check_owner(which, count);
    return tiles_in_grid<detail::box_type_of<Shape>, Tile...>(detail::as_box(s), owners, owners.place_of(which));
  }
  template <detail::box_like Shape>
  STARLING_HD constexpr index_t owner(const typename Shape::coords_t& c, const Shape& s, index_t count) const {
    const auto owners = owners_.checked(Shape::rank(), count);
    constexpr index_t edges[] = {Tile...};
    coords<n_dimensions> at{};
    for (int d = 0; d < n_dimensions && d < Shape::rank(); ++d)
      at[d] = (c[d] - s.lower(d)) / edges[d] % owners.count(d);
    return owners.owner_at(at);
  }

 private:
  detail::owner_grid<n_dimensions> owners_;
};

}  // namespace starling::stf
