// Several steps in one pass over cells in memory, two dimensions: a warp streams down the rows of a strip and keeps,
// for each of the steps, what the next row needs of the last two in registers. A row that was loaded goes through all
// steps at once, each of them a row behind the one before, and what comes out at the end is stored: a cell is loaded
// and stored once in `depth` steps. Lanes have cells side by side and hear of their neighbours' by shuffles; there is
// no barrier. (Overlapped temporal blocking, streamed along y.)
#pragma once

#include <limits>
#include <type_traits>

#include "starling/device/loops.hpp"
#include "starling/device/target.hpp"
#include "stencil/core/relax.hpp"
#include "stencil/temporal/row_prefetch.hpp"
#include "stencil/temporal/strip_layout.hpp"

namespace starling::stencil {

// What a warp does at once.
struct strip_segment {
  int strip;
  int begin, end;  // rows
};

// The steps of one pass, and what of it does not depend on the item.
struct temporal_pass {
  int depth;             // steps
  bool check;            // find the largest change of the last step
  bool uniform_weights;  // all neighbours have the same weight
};

// Store: store(place in the array, row, column, vector of cells, how many of them are the box's); for each vector that
// has some.
template <class T, int Depth, class Store>
class row_pipeline {
 public:
  using vector = cell_vector<T>;
  static constexpr int width = vector::width;
  static constexpr int n = pipeline_lane_cells<T>(target::on_gpu);
  static constexpr int vectors = n / width;

  STARLING_HD row_pipeline(const coefficients<T>& w, const strip_layout& layout, const box& own, const T* in, int lane,
                           const row_prefetch<T>& rows, const Store& store)
      : w_(w),
        layout_(layout),
        in_(in),
        store_(store),
        lane_(lane),
        ahead_(rows),
        rows_(static_cast<int>(own.extent[1])),
        columns_(static_cast<int>(own.extent[2])),
        updated_rows_(own.updated[1]),
        free_columns_{dirichlet_before(own), dirichlet_from(own)} {}

  STARLING_HD void run(const temporal_pass& pass, const strip_segment& item, bool dirichlet, T& change) {
    begin_strip(item);
    if (dirichlet && !pass.check && pass.uniform_weights && columns_ > n) {
      find_dirichlet_cell();
      stream<form::dirichlet_products>(pass, item, change);
    } else if (pass.check || dirichlet)
      stream<form::dirichlet>(pass, item, change);
    else if (pass.uniform_weights)
      stream<form::products>(pass, item, change);
    else
      stream<form::cells>(pass, item, change);
  }

 private:
  // How a step is made. products: the neighbours' weights are one, so that a cell is multiplied by it once for all of
  // them. dirichlet_products: the same where a lane may have one Dirichlet cell. cells: any weights. dirichlet: the
  // same where cells may be Dirichlet, or changes are noted.
  enum class form { products, dirichlet_products, cells, dirichlet };
  static constexpr bool multiplies(form f) { return f == form::products || f == form::dirichlet_products; }

  using lane_cells = lane_row<T, n>;
  // Of the row that has come last to a step: the first two terms of its sum, and what its neighbours beside and below
  // add of it, cells or products.
  struct stage {
    lane_cells sum;
    lane_cells centre;
  };

  template <int N, class F>
  STARLING_HD static void each(const F& f) {
    if constexpr (target::on_gpu) {
      unrolled<N>(f);
    } else {
      for (int i = 0; i < N; ++i) f(i);
    }
  }

  // The columns of a ghost zone are not Dirichlet.
  STARLING_HD static int dirichlet_before(const box& own) {
    return own.updated[2].begin > 0 ? static_cast<int>(own.updated[2].begin) : std::numeric_limits<int>::min();
  }
  STARLING_HD static int dirichlet_from(const box& own) {
    return own.updated[2].end < own.extent[2] ? static_cast<int>(own.updated[2].end) : std::numeric_limits<int>::max();
  }

  STARLING_HD void find_dirichlet_cell() {
    dirichlet_cell_ = -1;
    each<n>([&](auto i) {
      const int x = first_ + i;
      if (x >= 0 && x < columns_ && (x < free_columns_[0] || x >= free_columns_[1])) dirichlet_cell_ = i;
    });
  }

  STARLING_HD void begin_strip(const strip_segment& item) {
    first_ = static_cast<int>(layout_.first_column(item.strip)) + lane_ * n;
    const int begin = item.strip * layout_.columns;
    const int end = begin + layout_.columns < columns_ ? begin + layout_.columns : columns_;
    each<vectors>([&](auto i) {
      const int x = first_ + i * width;
      const int left = end - x;
      own_[i] = x < begin || left < 0 ? 0 : left < width ? left : width;
    });
  }

  // Where the lane's cells of a row are in either array.
  STARLING_HD index_t place(int row) const { return layout_.at(row, first_); }

  STARLING_HD lane_cells load(index_t at) const {
    lane_cells c;
    const T* p = in_ + at;
    each<vectors>([&](auto i) {
      const vector v = *reinterpret_cast<const vector*>(p + i * width);
      each<width>([&](auto j) { c.cell[i * width + j] = v.cell[j]; });
    });
    return c;
  }

  STARLING_HD void keep(index_t at, int row, const lane_cells& c) const {
    each<vectors>([&](auto i) {
      if (own_[i] == 0) return;
      vector v;
      each<width>([&](auto j) { v.cell[j] = c.cell[i * width + j]; });
      store_(at + i * width, row, first_ + i * width, v, own_[i]);
    });
  }

  template <form Form>
  STARLING_HD lane_cells as_centre(const lane_cells& row) const {
    lane_cells c = row;
    if constexpr (multiplies(Form)) each<n>([&](auto i) { c.cell[i] = w_.low[1] * row.cell[i]; });
    return c;
  }

  // What the lane's Dirichlet cell holds in the last rows, the newest first. Products do not tell it.
  struct dirichlet_rows {
    T cell[Depth + 2];
  };
  STARLING_HD void note_dirichlet(dirichlet_rows& dirichlet, const lane_cells& row) const {
    each<Depth + 1>([&](auto k) { dirichlet.cell[Depth + 1 - k] = dirichlet.cell[Depth - k]; });
    each<n>([&](auto i) {
      if (dirichlet_cell_ == i) dirichlet.cell[0] = row.cell[i];
    });
  }

  // The next row comes to a step, which makes the row before, whose Dirichlet cell holds `dirichlet`. checked: note
  // how much that changes.
  template <form Form>
  STARLING_HD lane_cells arrive(stage& l, const lane_cells& row, T dirichlet, bool checked, T& change) const {
    const T before = target::shuffle_up(l.centre.cell[n - 1], 1);
    const T after = target::shuffle_down(l.centre.cell[0], 1);
    const lane_cells south = as_centre<Form>(row);
    lane_cells made;
    each<n>([&](auto i) {
      const T west = i > 0 ? l.centre.cell[i > 0 ? i - 1 : 0] : before;
      const T east = i + 1 < n ? l.centre.cell[i + 1 < n ? i + 1 : 0] : after;
      T sum = l.sum.cell[i];
      if constexpr (multiplies(Form)) {
        sum = sum + south.cell[i];
        sum = sum + west;
        sum = sum + east;
      } else {
        sum = sum + w_.high[1] * south.cell[i];
        sum = sum + w_.low[2] * west;
        sum = sum + w_.high[2] * east;
      }
      if constexpr (Form == form::dirichlet) {
        const int x = first_ + i;
        if (x < free_columns_[0] || x >= free_columns_[1]) sum = l.centre.cell[i];
      }
      if constexpr (Form == form::dirichlet_products)
        if (dirichlet_cell_ == i) sum = dirichlet;
      made.cell[i] = sum;
    });
    if constexpr (Form == form::dirichlet)
      if (checked) note_changes(l.centre, made, change);
    each<n>([&](auto i) {
      const T north = multiplies(Form) ? l.centre.cell[i] : w_.low[1] * l.centre.cell[i];
      l.sum.cell[i] = w_.centre * row.cell[i] + north;
    });
    l.centre = south;
    return made;
  }

  template <form Form>
  STARLING_HD void stream(const temporal_pass& pass, const strip_segment& item, T& change) {
    const int depth = pass.depth;
    const int last_row = rows_ - 1;
    const bool dirichlet_above = updated_rows_.begin > 0;
    const bool dirichlet_below = updated_rows_.end < rows_;
    const int begin = item.begin < updated_rows_.begin ? static_cast<int>(updated_rows_.begin) : item.begin;
    const int end = item.end > updated_rows_.end ? static_cast<int>(updated_rows_.end) : item.end;
    if (begin >= end) return;
    stage stages[Depth] = {};
    dirichlet_rows dirichlet{};
    if (dirichlet_above && begin <= depth) {
      const lane_cells c = as_centre<Form>(load(place(0)));
      each<Depth>([&](auto l) { stages[l].centre = c; });
    }
    const int first = dirichlet_above && begin - depth < 1 ? 1 : begin - depth;
    const int last = end + depth - 1;
    const int last_loaded = dirichlet_below && last > last_row ? last_row : last;
    ahead_.begin(in_ + place(first), layout_.pitch, last_loaded - first + 1);
    const auto next = [&] {
      const lane_cells row = ahead_.next();
      if constexpr (Form == form::dirichlet_products) note_dirichlet(dirichlet, row);
      return row;
    };
    // Two rows at a time, without looking for Dirichlet ones. A step has something to make two rows after the one
    // before it; steady: all have, and the last one's rows are the item's.
    const auto pair = [&](auto steady, int row, int active) {
      target::join_warp();
      const int steps = target::shuffle_first(active);
      lane_cells now[2];
      each<2>([&](auto i) { now[i] = next(); });
      each<Depth>([&](auto l) {
        if (!steady && l >= steps) return;
        each<2>([&](auto i) {
          const bool checked = l + 1 == depth && row + i - depth >= begin;
          now[i] = arrive<Form>(stages[l], now[i], dirichlet.cell[2 + l - i], pass.check && checked, change);
        });
      });
      index_t at = place(row - depth);
      each<2>([&](auto i) {
        if (steady || row + i - depth >= begin) keep(at, row + i - depth, now[i]);
        at += layout_.pitch;
      });
    };
    const bool from_edge = first > begin - depth;
    const int pairs_begin = from_edge ? begin + depth : first;
    const int steady_begin = Form != form::dirichlet && depth == Depth ? begin + depth : last_loaded;
    for (int row = first; row <= last; ++row) {
      if (row >= pairs_begin) {
        int active = from_edge ? depth : 1;
        for (; row < last_loaded && row < steady_begin; row += 2) {
          pair(std::false_type(), row, active);
          if (active < depth) ++active;
        }
        if constexpr (Form != form::dirichlet)
          for (; row < last_loaded; row += 2) pair(std::true_type(), row, depth);
        if (row > last) break;
      }
      target::join_warp();
      // A Dirichlet row comes to each step as it is.
      lane_cells now = next();
      bool done = false;
      each<Depth>([&](auto l) {
        const int come = row - l;  // the row that comes to this step
        if (l >= depth || done || (dirichlet_below && come > last_row)) return;
        done = come < begin - depth + l || (dirichlet_above && come < 1);
        if (done) return;
        if (dirichlet_below && come == last_row && l > 0) now = load(place(last_row));
        now = arrive<Form>(stages[l], now, dirichlet.cell[1 + l], pass.check && l + 1 == depth && row - depth >= begin,
                           change);
      });
      if (row - depth >= begin) keep(place(row - depth), row - depth, now);
    }
  }

  STARLING_HD void note_changes(const lane_cells& was, const lane_cells& is, T& change) const {
    each<vectors>([&](auto i) {
      each<width>([&](auto j) {
        if (j < own_[i]) note_difference(was.cell[i * width + j], is.cell[i * width + j], change);
      });
    });
  }

  const coefficients<T> w_;
  const strip_layout& layout_;
  const T* in_;
  const Store& store_;
  int lane_;
  row_prefetch<T> ahead_;
  int rows_;
  int columns_;
  index_range updated_rows_;
  int free_columns_[2];      // [begin, end) of those that no Dirichlet column is among
  int dirichlet_cell_ = -1;  // of the lane's, where a column is Dirichlet; -1: none
  int first_ = 0;            // column of the lane's first cell
  int own_[vectors];         // cells of each vector that are the strip's own
};

}  // namespace starling::stencil
