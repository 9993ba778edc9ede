// The solver of shortest paths: its kernel, and what the host does around it.
#pragma once

#include <algorithm>
#include <limits>

#include "sssp/entering_edges.hpp"
#include "sssp/inner_edges.hpp"
#include "sssp/sssp.hpp"

namespace starling::sssp {
namespace detail {

struct stretch {
  std::uint64_t epoch = 0;
  std::int64_t changed = 1;
};

template <class T>
struct two_distances {
  T old, found;
};

template <class T, sparse::entry_values Values>
struct rounds {
  static constexpr int max_threads = sparse::most_iteration_threads;

  region_handle<T> distance;
  sparse::matrix_data<T> edges;
  sparse::tile_input_tables inputs;
  inner_edge_tables<T> inner;
  entering_edge_tables<T> entering;
  sym<T> least;                   // of the PE's vertices, over edges
  sym<std::uint64_t> changed_in;  // [tiles] last epoch in which a distance of the tile changed
  sym<stretch> at;
  sparse::iteration_words log;
  std::uint64_t last;

  STARLING_HD void operator()(block& b) const {
    const sparse::tile_product<T> product(b, edges);
    const block_distances<T> followed(b, inner.most_vertices);
    const int pe = b.pe();
    const index_t first = edges.own.on(pe)->first;
    T* least_of = least.on(pe);
    std::uint64_t* changed = changed_in.on(pe);
    const auto buffers = static_cast<std::uint64_t>(distance.state().buffers);
    std::uint64_t skipped = 0;
    stretch now = *at.on(pe);
    std::uint64_t waited = 0;
    while (now.epoch < last && now.changed != 0) {
      const auto old = sparse::timed_await(distance, b, now.epoch++, waited);
      std::int64_t mine = 0;
      distance.each_tile(b, now.epoch, [&](const tile& t, const tracked<T>& next) {
        // If nothing that it reads was stored in the last epoch, its own chunk included, it was the same before.
        if (!inputs.stored(b, t.number, old)) {
          ++skipped;
          return t.unchanged();
        }
        const bool follows = inner.kept(b, t.number);
        if (follows)
          follow(b, t, old, followed);
        else
          product.template multiply<sparse::min_plus, Values>(t.number, old.data(), least_of);
        const auto both = [&](index_t i) {
          return two_distances<T>{old(i), follows ? followed.distance[i - t.range.begin] : least_of[i - first]};
        };
        bool less = false;
        sparse::each_loaded<4>(b, t.range, both, [&](index_t, two_distances<T> d) { less = less || d.found < d.old; });
        if (b.any(less)) {
          if (b.member() == 0) changed[t.number] = now.epoch;
        } else if (changed[t.number] + buffers <= now.epoch) {
          return t.unchanged();
        }
        sparse::each_loaded<4>(b, t.range, both, [&](index_t i, two_distances<T> d) {
          next(i) = d.found < d.old ? d.found : d.old;
          if (d.found < d.old) ++mine;
        });
      });
      if (distance.state().credits) distance.give_credit(b, now.epoch - 1);
      now.changed = b.all_reduce(b.reduce(mine, plus{}), plus{});
      log.note(b, now.epoch, static_cast<double>(now.changed));
    }
    log.note_waited(b, waited);
    log.note_skipped(b, skipped);
    if (b.index() == 0 && b.member() == 0) *at.on(pe) = now;
  }

 private:
  // What paths within the tile make of its distances, and of those that edges from other tiles bring.
  STARLING_HD void follow(const block& b, const tile& t, const epoch_view<T>& old, const block_distances<T>& d) const {
    inner.begin(b, t, old, d);
    entering.each(b, t.number, old, [&](index_t vertex, T to) { d.lower(vertex, to); });
    b.sync();
    inner.follow(b, t.number, d);
  }
};

}  // namespace detail

using detail::rounds;
using detail::stretch;

template <class T>
class solver<T>::state {
 public:
  state(const machine& m, const sparse::csr_view<T>& edges_in, sparse::iteration_options o, int sweeps)
      : state(m, edges_in, o, sweeps, sweeps > 0 ? tiles_to_follow(m, edges_in) : 0) {}

  state(const machine& m, const sparse::csr_view<T>& edges_in, sparse::iteration_options o, int sweeps, int tiles)
      : values_(edges_in.value == nullptr ? sparse::entry_values::ones : sparse::entry_values::stored),
        rows_(m, edges_in, to_follow(o, tiles), values_, std::numeric_limits<T>::infinity(),
              sparse::blocks_beside_agent<rounds<T, sparse::entry_values::stored>, T>(m, o)),
        inputs_(rows_.inputs(edges_in)),
        inner_(rows_.device(), edges_in, followed_tiles(tiles > 0), sweeps),
        entering_(rows_.device(), edges_in, followed_tiles(tiles > 0)),
        least_(rows_.of_rows()),
        changed_in_(rows_.device().template allocate<std::uint64_t>(rows_.tiles_of_a_pe())),
        at_(rows_.device().template allocate<stretch>(1)) {}

  result solve(index_t source, T* distances, const watcher& watch) {
    const index_t vertices = rows_.facts().rows;
    expect<range_error>(source >= 0 && source < vertices, "sssp: source ", source, " of a graph with ", vertices,
                        " vertices; they are numbered from 0");
    machine& m = rows_.device();
    std::fill(distances, distances + vertices, std::numeric_limits<T>::infinity());
    distances[source] = 0;
    rows_.values().load({distances, static_cast<std::size_t>(vertices)});
    stretch now;
    for (int pe = 0; pe < m.size(); ++pe) {
      m.copy(at_.on(pe), &now, sizeof now);
      m.fill(changed_in_.on(pe), 0, static_cast<std::size_t>(changed_in_.size()) * sizeof(std::uint64_t));
    }
    inner_.start(m);
    rows_.log().begin();
    const auto run = [&](auto values, std::uint64_t last) {
      const rounds<T, decltype(values)::value> k{
          rows_.values().handle(),      rows_.tiles(), inputs_.tables(),   inner_.tables(),
          entering_.tables(),           least_.data(), changed_in_.data(), at_.data(),
          rows_.log().words(now.epoch), last};
      const auto ended = [&] {
        m.copy(&now, at_.on(0), sizeof now);
        return now.epoch;
      };
      rows_.log().run(rows_.programs(k, inner_.scratch_bytes()), ended, now.epoch);
    };
    for (std::uint64_t each = 64; now.changed != 0; each = std::min(2 * each, sparse::iteration_log::most_epochs)) {
      if (values_ == sparse::entry_values::ones)
        run(std::integral_constant<sparse::entry_values, sparse::entry_values::ones>(), now.epoch + each);
      else
        run(std::integral_constant<sparse::entry_values, sparse::entry_values::stored>(), now.epoch + each);
      if (now.changed != 0 && watch && !watch(static_cast<index_t>(now.epoch), static_cast<double>(now.changed))) break;
    }
    rows_.values().collect(now.epoch, {distances, static_cast<std::size_t>(vertices)});
    result r;
    r.complete = now.changed == 0;
    r.storage = rows_.facts().how;
    r.report = rows_.report();
    if (r.complete) r.report.history.pop_back();  // the round that changed nothing
    r.rounds = static_cast<index_t>(r.report.history.size());
    return r;
  }

 private:
  std::vector<std::vector<index_range>> followed_tiles(bool some) {
    if (some) return rows_.rows_of_tiles();
    return std::vector<std::vector<index_range>>(static_cast<std::size_t>(rows_.device().size()));
  }

  // Sweeps wait for memory, which many threads do together.
  static sparse::iteration_options to_follow(sparse::iteration_options o, int tiles) {
    if (o.tiles == 0) o.tiles = tiles;
    // An own warp comes on top of a block's threads, and is one of those that registers are there for.
    const int beside = o.agent == region_agent::own_warp ? target::threads_beside : 0;
    if (o.threads == 0 && tiles > 0) o.threads = sparse::most_iteration_threads - beside;
    return o;
  }

  sparse::entry_values values_;
  sparse::region_rows<T> rows_;
  sparse::tile_inputs inputs_;
  inner_edges<T> inner_;
  entering_edges<T> entering_;
  symmetric_array<T> least_;
  symmetric_array<std::uint64_t> changed_in_;
  symmetric_array<stretch> at_;
};

template <class T>
solver<T>::solver(const machine& m, const sparse::csr_view<T>& edges_in, const sparse::iteration_options& options,
                  int sweeps)
    : state_((expect<argument_error>(sweeps >= 0, "sssp: sweeps = ", sweeps, "; must be at least 0: none"),
              std::make_unique<state>(m, edges_in, options, sweeps))) {}
template <class T>
solver<T>::~solver() = default;
template <class T>
solver<T>::solver(solver&&) noexcept = default;
template <class T>
solver<T>& solver<T>::operator=(solver&&) noexcept = default;

template <class T>
result solver<T>::solve(index_t source, T* distances, const watcher& watch) {
  return state_->solve(source, distances, watch);
}

// An edge from a nearer vertex is on a shortest path if the lengths add up. Vertices that only edges of no length, or
// of less than can be seen, lead to are reached from others as far away, step by step.
template <class T>
std::vector<std::int32_t> solver<T>::predecessors(const sparse::csr_view<T>& a, index_t source, const T* distance) {
  std::vector<std::int32_t> before(static_cast<std::size_t>(a.rows), nobody);
  std::vector<std::int32_t> left;
  const auto find = [&](std::int32_t v, const auto& allowed) {
    for (index_t e = a.row_start[v]; e < a.row_start[v + 1]; ++e) {
      const std::int32_t u = a.column[e];
      const T weight = a.value == nullptr ? T{1} : a.value[e];
      if (!(distance[u] + weight == distance[v]) || !allowed(u)) continue;
      before[static_cast<std::size_t>(v)] = u;
      return true;
    }
    return false;
  };
  for (std::int32_t v = 0; v < static_cast<std::int32_t>(a.rows); ++v) {
    if (v == source || distance[v] == std::numeric_limits<T>::infinity()) continue;
    if (!find(v, [&](std::int32_t u) { return distance[u] < distance[v]; })) left.push_back(v);
  }
  const auto reached = [&](std::int32_t u) { return u == source || before[static_cast<std::size_t>(u)] != nobody; };
  for (std::size_t had = left.size() + 1; !left.empty() && left.size() < had;) {
    had = left.size();
    std::erase_if(left, [&](std::int32_t v) { return find(v, reached); });
  }
  return before;
}

}  // namespace starling::sssp
