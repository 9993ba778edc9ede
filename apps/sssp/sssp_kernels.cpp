#include <algorithm>
#include <chrono>
#include <limits>

#include "sssp/sssp.hpp"

namespace starling::sssp {
namespace {

struct stretch {
  std::uint64_t epoch = 0;
  std::int32_t changed = 1;
};

template <class T>
struct rounds {
  region_handle<T> distance;
  sparse::matrix_data<T> edges;
  sym<T> least;  // of the PE's vertices, over edges
  sym<stretch> at;
  std::uint64_t last;

  STARLING_HD void operator()(block& b) const {
    const sparse::tile_product<T> product(b, edges);
    const int pe = b.pe();
    const index_t first = edges.own.on(pe)->first;
    T* least_of = least.on(pe);
    stretch now = *at.on(pe);
    while (now.epoch < last && now.changed != 0) {
      const auto old = distance.await(b, now.epoch++);
      std::int32_t mine = 0;
      distance.each_tile(b, now.epoch, [&](const tile& t, const tracked<T>& next) {
        product.template multiply<sparse::min_plus, sparse::entry_values::stored>(t.number, old.data(), least_of);
        b.for_each(t.range, [&](index_t i) {
          const T was = old(i);
          const T is = least_of[i - first];
          next(i) = is < was ? is : was;
          if (is < was) mine = 1;
        });
      });
      now.changed = b.all_reduce(b.reduce(mine, maximum{}), maximum{});
    }
    if (b.index() == 0 && b.member() == 0) *at.on(pe) = now;
  }
};

}  // namespace

template <class T>
class solver<T>::state {
 public:
  state(const machine& m, const sparse::csr_view<T>& edges_in, const sparse::iteration_options& o)
      : rows_(m, edges_in, o, sparse::entry_values::stored, std::numeric_limits<T>::infinity()),
        least_(rows_.of_rows()),
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
    for (int pe = 0; pe < m.size(); ++pe) m.copy(at_.on(pe), &now, sizeof now);
    result r;
    for (std::uint64_t each = 64; now.changed != 0; each *= 2) {
      const auto programs = rows_.programs(
          rounds<T>{rows_.values().handle(), rows_.tiles(), least_.data(), at_.data(), now.epoch + each});
      const auto start = std::chrono::steady_clock::now();
      m.run(programs);
      r.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      m.copy(&now, at_.on(0), sizeof now);
      if (now.changed != 0 && watch && !watch(static_cast<index_t>(now.epoch))) break;
    }
    rows_.values().read(0, now.epoch, {distances, static_cast<std::size_t>(vertices)});
    r.complete = now.changed == 0;
    r.rounds = static_cast<index_t>(now.epoch);
    r.moved = rows_.values().report();
    return r;
  }

 private:
  sparse::region_rows<T> rows_;
  symmetric_array<T> least_;
  symmetric_array<stretch> at_;
};

template <class T>
solver<T>::solver(const machine& m, const sparse::csr_view<T>& edges_in, const sparse::iteration_options& options)
    : state_(std::make_unique<state>(m, edges_in, options)) {}
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

template class solver<float>;
template class solver<double>;

}  // namespace starling::sssp
