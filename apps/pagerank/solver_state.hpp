// The solver of PageRank: its kernel, and what the host does around it.
#pragma once

#include <algorithm>
#include <cmath>

#include "pagerank/pagerank.hpp"
#include "sparse/loaded_rows.hpp"

namespace starling::pagerank {
namespace detail {

// What an iteration adds up over all vertices.
struct sums {
  double change = 0;
  double dangling = 0;  // rank of vertices without edges
  STARLING_HD friend sums operator+(const sums& a, const sums& b) {
    return {a.change + b.change, a.dangling + b.dangling};
  }
};

// Where a stretch of iterations begins, and where it has ended.
struct stretch {
  std::uint64_t epoch = 0;
  sums last;
};

template <class T, sparse::entry_values Values>
struct iterations {
  static constexpr int max_threads = sparse::most_iteration_threads;

  region_handle<T> scaled;  // rank / weight of the edges out; 0 of vertices without
  sparse::matrix_data<T> edges;
  sym<T> rank, inverse_out, personal, dangling;  // of the PE's vertices; the last two may be null
  sym<T> sum;
  sym<stretch> at;
  sparse::iteration_words log;
  std::uint64_t last;
  double limit;  // of the change
  T alpha;
  T even;  // 1 / vertices

  struct vertex {
    T sum, was, inverse, personal_share, dangling_share;
  };

  STARLING_HD void operator()(block& b) const {
    const sparse::tile_product<T> product(b, edges);
    const int pe = b.pe();
    const index_t first = edges.own.on(pe)->first;
    const T* inverse = inverse_out.on(pe);
    const T* personal_of = static_cast<bool>(personal) ? personal.on(pe) : nullptr;
    const T* dangling_of = static_cast<bool>(dangling) ? dangling.on(pe) : personal_of;
    T* sum_of = sum.on(pe);
    T* rank_of = rank.on(pe);
    stretch now = *at.on(pe);
    std::uint64_t waited = 0;
    while (now.epoch < last) {
      const auto old = sparse::timed_await(scaled, b, now.epoch++, waited);
      const T loose = alpha * static_cast<T>(now.last.dangling);
      sums mine;
      scaled.each_tile(b, now.epoch, [&](const tile& t, const tracked<T>& next) {
        product.template multiply<sparse::plus_times, Values>(t.number, old.data(), sum_of);
        const auto load = [&](index_t i) {
          const index_t r = i - first;
          return vertex{sum_of[r], rank_of[r], inverse[r], personal_of != nullptr ? personal_of[r] : even,
                        dangling_of != nullptr ? dangling_of[r] : even};
        };
        sparse::each_loaded<4>(b, t.range, load, [&](index_t i, const vertex& v) {
          const T is = alpha * v.sum + loose * v.dangling_share + (T{1} - alpha) * v.personal_share;
          rank_of[i - first] = is;
          next(i) = is * v.inverse;
          mine.change += std::fabs(static_cast<double>(is) - static_cast<double>(v.was));
          if (v.inverse == T{0}) mine.dangling += static_cast<double>(is);
        });
      });
      if (scaled.state().credits) scaled.give_credit(b, now.epoch - 1);
      now.last = b.all_reduce(b.reduce(mine, plus{}), plus{});
      log.note(b, now.epoch, now.last.change);
      if (now.last.change < limit) break;
    }
    log.note_waited(b, waited);
    if (b.index() == 0 && b.member() == 0) *at.on(pe) = now;
  }
};

}  // namespace detail

using detail::iterations;
using detail::stretch;

template <class T>
class solver<T>::state {
 public:
  state(const machine& m, std::shared_ptr<const sparse::ordered_graph<T>> edges_in, const T* out_weight,
        const sparse::iteration_options& o)
      : graph_(std::move(edges_in)),
        vertices_(graph_->view().rows),
        values_(graph_->view().value == nullptr ? sparse::entry_values::ones : sparse::entry_values::stored),
        rows_(m, graph_->view(), o, values_, T{0},
              sparse::blocks_beside_agent<iterations<T, sparse::entry_values::ones>, T>(m, o)),
        rank_(rows_.of_rows()),
        sum_(rows_.of_rows()),
        at_(rows_.device().template allocate<stretch>(1)) {
    inverse_ = graph_->ordered(out_weight);
    for (T& w : inverse_) w = w > T{0} ? T{1} / w : T{0};
    inverse_out_ = rows_.of_rows(inverse_.data());
  }

  result solve(T* ranks, const T* personalization, const T* dangling, const solve_options& o, const watcher& watch) {
    expect<argument_error>(o.alpha >= 0 && o.alpha <= 1, "pagerank: alpha = ", o.alpha, "; must be from 0 to 1");
    expect<argument_error>(o.max_iterations >= 0, "pagerank: max_iterations = ", o.max_iterations,
                           "; must be at least 0");
    machine& m = rows_.device();
    load(ranks);
    symmetric_array<T> personal = optional(personalization);
    symmetric_array<T> loose = optional(dangling);
    result r;
    const auto handle = [](const symmetric_array<T>& a) { return a.allocated() ? a.data() : sym<T>(); };
    stretch now;
    rows_.log().begin();
    const auto run = [&](auto values, std::uint64_t last) {
      const iterations<T, decltype(values)::value> k{rows_.values().handle(),
                                                     rows_.tiles(),
                                                     rank_.data(),
                                                     inverse_out_.data(),
                                                     handle(personal),
                                                     handle(loose),
                                                     sum_.data(),
                                                     at_.data(),
                                                     rows_.log().words(now.epoch),
                                                     last,
                                                     o.fixed ? -1 : o.tolerance,
                                                     static_cast<T>(o.alpha),
                                                     T{1} / static_cast<T>(vertices_)};
      const auto ended = [&] {
        m.copy(&now, at_.on(0), sizeof now);
        return now.epoch;
      };
      rows_.log().run(rows_.programs(k), ended, now.epoch);
    };
    const auto most = static_cast<std::uint64_t>(o.max_iterations);
    for (std::uint64_t each = 16; now.epoch < most; each = std::min(2 * each, sparse::iteration_log::most_epochs)) {
      if (values_ == sparse::entry_values::ones)
        run(std::integral_constant<sparse::entry_values, sparse::entry_values::ones>(),
            std::min(now.epoch + each, most));
      else
        run(std::integral_constant<sparse::entry_values, sparse::entry_values::stored>(),
            std::min(now.epoch + each, most));
      r.converged = now.last.change < o.tolerance;
      if (r.converged && !o.fixed) break;
      if (watch && !watch({static_cast<index_t>(now.epoch), now.last.change})) break;
    }
    std::vector<T> ordered(static_cast<std::size_t>(vertices_));
    rows_.gather(rank_, ordered.data());
    graph_->restore(ordered.data(), ranks);
    r.order = graph_->order();
    r.iterations = static_cast<index_t>(now.epoch);
    r.change = now.last.change;
    r.storage = rows_.facts().how;
    r.report = rows_.report();
    return r;
  }

 private:
  symmetric_array<T> optional(const T* all) {
    return all != nullptr ? rows_.of_rows(graph_->ordered(all).data()) : symmetric_array<T>();
  }

  void load(const T* ranks) {
    machine& m = rows_.device();
    const std::vector<T> ordered = graph_->ordered(ranks);
    std::vector<T> scaled = ordered;
    stretch start;
    for (std::size_t i = 0; i < scaled.size(); ++i) {
      if (inverse_[i] == T{0}) start.last.dangling += static_cast<double>(scaled[i]);
      scaled[i] *= inverse_[i];
    }
    rows_.values().load(scaled);
    for (int pe = 0; pe < m.size(); ++pe) {
      if (!m.is_local(pe)) continue;
      const index_range own = rows_.rows_of(pe);
      m.copy(rank_.on(pe), ordered.data() + own.begin, static_cast<std::size_t>(own.size()) * sizeof(T));
      m.copy(at_.on(pe), &start, sizeof start);
    }
  }

  std::shared_ptr<const sparse::ordered_graph<T>> graph_;
  index_t vertices_;
  sparse::entry_values values_;
  sparse::region_rows<T> rows_;
  std::vector<T> inverse_;  // 1 / weight of the edges out
  symmetric_array<T> rank_, sum_, inverse_out_;
  symmetric_array<stretch> at_;
};

template <class T>
solver<T>::solver(const machine& m, const sparse::csr_view<T>& edges_in, const T* out_weight,
                  const sparse::iteration_options& options, sparse::vertex_order order)
    : solver(m, std::make_shared<sparse::ordered_graph<T>>(edges_in, order, m.size()), out_weight, options) {}
template <class T>
solver<T>::solver(const machine& m, std::shared_ptr<const sparse::ordered_graph<T>> edges_in, const T* out_weight,
                  const sparse::iteration_options& options)
    : state_(std::make_unique<state>(m, std::move(edges_in), out_weight, options)) {}
template <class T>
solver<T>::~solver() = default;
template <class T>
solver<T>::solver(solver&&) noexcept = default;
template <class T>
solver<T>& solver<T>::operator=(solver&&) noexcept = default;

template <class T>
result solver<T>::solve(T* ranks, const T* personalization, const T* dangling, const solve_options& options,
                        const watcher& watch) {
  return state_->solve(ranks, personalization, dangling, options, watch);
}

}  // namespace starling::pagerank
