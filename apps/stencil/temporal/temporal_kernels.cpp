#include "stencil/temporal/temporal_kernels.hpp"

#include "starling/device/block.hpp"
#include "stencil/temporal/ghost_peers.hpp"
#include "stencil/temporal/row_pipeline.hpp"

namespace starling::stencil {
namespace {

// What a block needs of the domain, in shared memory.
struct temporal_block {
  box own;
  int peers;
  ghost_peer peer[most_ghost_peers];
};

// Those of so many cells from (y, x) that the peer gets.
template <class T>
STARLING_HD void send(block_threads t, const ghost_peer& p, sym<T> array, const strip_layout& layout, int y, int x,
                      const cell_vector<T>& cells, int n) {
  constexpr int width = cell_vector<T>::width;
  if (y < p.rows[0] || y >= p.rows[1] || x + n <= p.columns[0] || x >= p.columns[1]) return;
  const sym<T> to = array + layout.at(y + p.rows_on, x + p.columns_on);
  const thread one = t.thread();
  if (n == width && p.columns_on == 0) {
    one.p(sym<cell_vector<T>>(reinterpret_cast<cell_vector<T>*>(to.on(0)), to.stride_bytes()), cells, p.pe);
    return;
  }
  unrolled<width>([&](auto i) {
    if (i < n && x + i >= p.columns[0] && x + i < p.columns[1]) one.p(to + i, cells.cell[i], p.pe);
  });
}

// Apart, so that the pipeline has the registers for its steps: few rows are sent.
template <class T>
__attribute__((noinline)) STARLING_HD void send_to_all(block_threads t, const temporal_block& place, sym<T> array,
                                                       const strip_layout& layout, int y, int x, cell_vector<T> cells,
                                                       int n) {
  for (int i = 0; i < place.peers; ++i) send(t, place.peer[i], array, layout, y, x, cells, n);
}

// Of all threads of a block of a GPU; virtual devices, whose launches name one thread, have none.
template <class T>
constexpr index_t slots_of(int threads) {
  return threads > 1 ? index_t{row_prefetch<T>::slots} * threads : 0;
}

// One block's part.
template <class T>
class temporal_program {
 public:
  using vector = cell_vector<T>;
  static constexpr int width = vector::width;

  STARLING_HD temporal_program(block& b, const temporal_arguments<T>& a)
      : b_(b),
        a_(a),
        place_(*b.scratch<temporal_block>(1)),
        slots_(b.scratch<vector>(slots_of<T>(target::on_gpu ? b.members() : 1))) {}

  // Within the kernel: a function of its own would have the block, and all of this, in local memory.
  __attribute__((always_inline)) STARLING_HD inline void run() {
    if (b_.member() == 0) {
      place_.own = box_of(a_.f.shape, b_.pe());
      place_.peers = ghost_peers(a_.f.shape, a_.layout, b_.pe(), place_.peer);
    }
    b_.sync();
    load();
    double checked = 0;
    index_t until_check = a_.check_every;
    index_t left = a_.steps;
    int now = 0;
    while (left > 0) {
      temporal_pass pass{a_.layout.depth, false, a_.uniform_weights};
      if (left < pass.depth) pass.depth = static_cast<int>(left);
      if (until_check > 0 && until_check <= pass.depth) {
        pass.depth = static_cast<int>(until_check);
        pass.check = true;
      }
      T change = 0;
      if (a_.compute) {
        make_steps(pass, now, change);
        now = 1 - now;
      } else {
        send_edges(now);
      }
      b_.barrier_all();
      left -= pass.depth;
      if (a_.check_every > 0) until_check -= pass.depth;
      if (!pass.check) continue;
      until_check = a_.check_every;
      checked = static_cast<double>(b_.all_reduce(b_.reduce(change, maximum{}), maximum{}));
      if (checked <= a_.tolerance) break;
    }
    const index_t steps = a_.steps - left;
    store(steps, now);
    if (b_.pe() == 0 && b_.index() == 0 && b_.member() == 0) *a_.status.on(0) = {a_.first + steps, checked};
  }

 private:
  // store(row, column, load(row, column)) for the vectors of the block's share of the box; some rows at once, so that
  // the loads are on their way together.
  template <class Load, class Store>
  STARLING_HD void each_vector(const Load& load, const Store& store) const {
    constexpr int together = 4;
    const index_range rows = b_.my_share(place_.own.extent[1]);
    const index_t step = ceil_div(rows.size(), together);
    b_.for_each(step, ceil_div(place_.own.extent[2], width), [&](index_t y, index_t v) {
      vector cells[together];
      unrolled<together>([&](auto i) {
        const index_t row = rows.begin + y + i * step;
        if (row < rows.end) cells[i] = load(row, v * width);
      });
      unrolled<together>([&](auto i) {
        const index_t row = rows.begin + y + i * step;
        if (row < rows.end) store(row, v * width, cells[i]);
      });
    });
  }

  // The first n cells of a vector; behind a row's last cell there may be a ghost zone that others write.
  STARLING_HD static vector get(const T* from, int n) {
    if (n == width) return *reinterpret_cast<const vector*>(from);
    vector cells{};
    unrolled<width>([&](auto i) {
      if (i < n) cells.cell[i] = from[i];
    });
    return cells;
  }
  STARLING_HD static void put(T* to, const vector& cells, int n) {
    if (n == width)
      *reinterpret_cast<vector*>(to) = cells;
    else
      unrolled<width>([&](auto i) {
        if (i < n) to[i] = cells.cell[i];
      });
  }
  STARLING_HD int cells_from(index_t x) const {
    const index_t left = place_.own.extent[2] - x;
    return left < width ? static_cast<int>(left) : width;
  }

  // Dirichlet cells are in both arrays, those of the neighbours too: no step makes them.
  STARLING_HD void load() {
    T* from = a_.f.u[a_.first % 2].on(b_.pe());
    T* first = a_.cells[0].on(b_.pe());
    T* second = a_.cells[1].on(b_.pe());
    each_vector([&](index_t y, index_t x) { return get(from + y * a_.f.shape.stride[1] + x, cells_from(x)); },
                [&](index_t y, index_t x, const vector& cells) {
                  const int n = cells_from(x);
                  put(first + a_.layout.at(y, x), cells, n);
                  put(second + a_.layout.at(y, x), cells, n);
                });
    b_.sync_pe();
    for (int array = 0; array < 2; ++array) send_edges(array);
    b_.barrier_all();
  }

  STARLING_HD void store(index_t steps, int now) const {
    T* to = a_.f.u[(a_.first + steps) % 2].on(b_.pe());
    T* from = a_.cells[now].on(b_.pe());
    each_vector([&](index_t y, index_t x) { return get(from + a_.layout.at(y, x), cells_from(x)); },
                [&](index_t y, index_t x, const vector& cells) {
                  put(to + y * a_.f.shape.stride[1] + x, cells, cells_from(x));
                });
  }

  // The box's cells at its edges to the ghost zones around others.
  STARLING_HD void send_edges(int array) const {
    const T* from = a_.cells[array].on(b_.pe());
    for (int i = 0; i < place_.peers; ++i) {
      const ghost_peer& p = place_.peer[i];
      const index_range share = b_.my_share(p.rows[1] - p.rows[0]);
      const index_range rows{p.rows[0] + share.begin, p.rows[0] + share.end};
      const index_range vectors{p.columns[0] / width, ceil_div(p.columns[1], width)};
      b_.for_each(rows, vectors, [&](index_t y, index_t v) {
        const auto x = static_cast<int>(v) * width;
        const vector cells = get(from + a_.layout.at(y, x), cells_from(x));
        send<T>(b_.all_threads(), p, a_.cells[array], a_.layout, static_cast<int>(y), x, cells, cells_from(x));
      });
    }
  }

  STARLING_HD void make_steps(const temporal_pass& pass, int now, T& change) const {
    const strip_layout& layout = a_.layout;
    const box& own = place_.own;
    T* out = a_.cells[1 - now].on(b_.pe());
    // Rows and columns of which none are sent.
    const auto begin = [&](int a) { return own.neighbour[2 * a] == no_neighbour ? 0 : layout.depth; };
    const auto end = [&](int a) {
      return static_cast<int>(own.extent[a]) - (own.neighbour[2 * a + 1] == no_neighbour ? 0 : layout.depth);
    };
    const int kept[2][2] = {{begin(1), end(1)}, {begin(2), end(2)}};
    const auto keep = [&](index_t where, int y, int x, const vector& cells, int n) {
      put(out + where, cells, n);
      if (y < kept[0][0] || y >= kept[0][1] || x < kept[1][0] || x + n > kept[1][1])
        send_to_all<T>(b_.all_threads(), place_, a_.cells[1 - now], layout, y, x, cells, n);
    };
    // A warp of a GPU streams, each lane with its part of the row; on a virtual device a thread, with all of it.
    const warp w = b_.warp();
    const int lane = target::on_gpu ? w.member() : 0;
    const int rank = target::on_gpu ? w.rank() : b_.member();
    const int count = target::on_gpu ? w.count() : b_.members();
    row_pipeline<T, temporal_most_depth, decltype(keep)> steps(a_.f.weight, layout, own, a_.cells[now].on(b_.pe()),
                                                               lane, {slots_ + b_.member(), b_.members()}, keep);
    // Those of a block take items far from each other, so that each has its share of those that are more work.
    const int all = count * b_.count();
    const int strips = layout.strips(own);
    int before = 0;
    int strip = 0;
    for (int i = rank * b_.count() + b_.rank();; i += all) {
      while (strip < strips && i - before >= layout.segments_of(own, strip)) before += layout.segments_of(own, strip++);
      if (strip == strips) break;
      const index_range mine = share(own.extent[1], layout.segments_of(own, strip), i - before);
      steps.run(pass, {strip, static_cast<int>(mine.begin), static_cast<int>(mine.end)},
                layout.has_dirichlet_columns(own, strip), change);
    }
  }

  block& b_;
  const temporal_arguments<T>& a_;
  temporal_block& place_;
  vector* slots_;  // for rows on their way, of each thread
};

template <class T>
struct temporal_steps {
  temporal_arguments<T> a;
  static constexpr int max_threads = temporal_most_threads;
  __attribute__((always_inline)) STARLING_HD inline void operator()(block& b) const { temporal_program<T>(b, a).run(); }
};

}  // namespace

template <class T>
kernel temporal_kernel(const temporal_arguments<T>& a) {
  return make_kernel(temporal_steps<T>{a});
}

template <class T>
std::size_t temporal_scratch(int threads) {
  return static_cast<std::size_t>(round_up(sizeof(temporal_block), 16) +
                                  slots_of<T>(threads) * static_cast<index_t>(sizeof(cell_vector<T>)));
}

template kernel temporal_kernel(const temporal_arguments<float>&);
template kernel temporal_kernel(const temporal_arguments<double>&);
template std::size_t temporal_scratch<float>(int);
template std::size_t temporal_scratch<double>(int);

}  // namespace starling::stencil
