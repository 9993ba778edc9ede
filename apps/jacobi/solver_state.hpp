// The solver of Jacobi's method: its kernel, and what the host does around it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "jacobi/jacobi.hpp"
#include "jacobi/products.hpp"
#include "sparse/loaded_rows.hpp"

namespace starling::jacobi {
namespace detail {

// Epoch e is computed from x of epoch e - 1, whose residual comes out beside it.
struct stretch {
  std::uint64_t epoch = 0;
  double squares = 0;  // of the residual of epoch - 1, summed
};

template <class T, class Products>
struct iterations {
  static constexpr int max_threads = sparse::most_iteration_threads;
  static constexpr int least_blocks = Products::least_blocks;

  region_handle<T> x;
  Products products;
  sym<const T> b, diagonal;  // of the PE's rows
  sym<stretch> at;
  sparse::iteration_words log;
  std::uint64_t last;
  double limit;  // of the squares

  struct row {
    T right, diagonal, x, sum;
  };

  STARLING_HD void operator()(block& block) const {
    const auto working = products.begin(block);
    const int pe = block.pe();
    const index_t first = x.part(block).begin;
    const T* right = b.on(pe);
    const T* d = diagonal.on(pe);
    stretch now = *at.on(pe);
    std::uint64_t waited = 0;
    while (now.epoch < last) {
      const auto old = sparse::timed_await(x, block, now.epoch++, waited);
      double mine = 0;
      x.each_tile(block, now.epoch, [&](const tile& t, const tracked<T>& next) {
        working.begin_tile(t, old.data());
        const auto load = [&](index_t i) {
          const index_t r = i - first;
          row of{right[r], d[r], old(i), T{0}};  // on their way while the products are made
          of.sum = working.of_row(i, r, old.data());
          return of;
        };
        sparse::each_loaded<Products::rows_at_once>(block, t.range, load, [&](index_t i, const row& of) {
          const T rest = of.right - of.sum;
          const double residual = static_cast<double>(rest) - static_cast<double>(of.diagonal * of.x);
          next(i) = rest / of.diagonal;
          mine += residual * residual;
        });
      });
      if (x.state().credits) x.give_credit(block, now.epoch - 1);
      now.squares = block.all_reduce(block.reduce(mine, plus{}), plus{});
      log.note(block, now.epoch, now.squares);
      if (!(now.squares > limit)) break;
    }
    log.note_waited(block, waited);
    if (block.index() == 0 && block.member() == 0) *at.on(pe) = now;
  }
};

template <class T>
sym<const T> read_only(const symmetric_array<T>& a) {
  return {a.data().on(0), a.data().stride_bytes()};
}

}  // namespace detail

using detail::iterations;
using detail::read_only;
using detail::stretch;

// What both kinds of matrices have: the loop on the host, and the vectors of rows.
template <class T>
class solver<T>::engine {
 public:
  explicit engine(const machine& m) : machine_(m), at_(machine_.allocate<stretch>(1)) {}
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  virtual ~engine() = default;

  result solve(const T* b, T* x, const solve_options& o, const watcher& watch) {
    expect<argument_error>(o.max_iterations >= 0, "jacobi: max_iterations = ", o.max_iterations,
                           "; must be at least 0");
    const double limit = o.target * o.target;
    expect<argument_error>(
        o.target >= 0 && std::isfinite(limit) && (limit >= std::numeric_limits<double>::min() || o.target == 0),
        "jacobi: target = ", o.target, "; must be at least 0, and its square a normal number; scale the system");
    const index_t n = values().size();
    values().load({x, static_cast<std::size_t>(n)});
    const symmetric_array<T> right = of_rows(b);
    stretch now;
    for (int pe = 0; pe < machine_.size(); ++pe) machine_.copy(at_.on(pe), &now, sizeof now);
    const auto end = static_cast<std::uint64_t>(o.max_iterations) + 1;
    result r;
    log().begin();
    for (std::uint64_t each = 16; now.epoch < end; each = std::min(2 * each, sparse::iteration_log::most_epochs)) {
      const auto ended = [&] {
        machine_.copy(&now, at_.on(0), sizeof now);
        return now.epoch;
      };
      log().run(programs_for(right, log().words(now.epoch), std::min(now.epoch + each, end), o.fixed ? -1 : limit),
                ended, now.epoch);
      r.iterations = static_cast<index_t>(now.epoch) - 1;
      r.residual = std::sqrt(now.squares);
      r.converged = now.squares <= limit;
      if ((r.converged && !o.fixed) || !std::isfinite(now.squares)) break;
      if (watch && !watch({r.iterations, r.residual})) break;
    }
    values().collect(now.epoch - 1, {x, static_cast<std::size_t>(n)});
    r.report = report();
    for (double& squares : r.report.history) squares = std::sqrt(squares);
    return r;
  }

 protected:
  virtual region<T>& values() = 0;
  virtual std::vector<program> programs_for(const symmetric_array<T>& right, const sparse::iteration_words& log,
                                            std::uint64_t last, double limit) = 0;
  virtual sparse::iteration_log& log() = 0;
  virtual sparse::iteration_report report() = 0;
  virtual symmetric_array<T> of_rows(const T* all) = 0;

  machine machine_;
  symmetric_array<stretch> at_;
};

template <class T>
class solver<T>::rows_engine : public engine {
 public:
  rows_engine(const machine& m, const sparse::csr_view<T>& a, const T* diagonal, const sparse::iteration_options& o)
      : engine(m),
        rows_(m, a, o, sparse::entry_values::stored, T{0},
              sparse::blocks_beside_agent<iterations<T, row_products<T>>, T>(m, o)),
        diagonal_(rows_.of_rows(diagonal)),
        sum_(rows_.of_rows()) {}

 private:
  region<T>& values() override { return rows_.values(); }
  sparse::iteration_log& log() override { return rows_.log(); }
  sparse::iteration_report report() override { return rows_.report(); }
  symmetric_array<T> of_rows(const T* all) override { return rows_.of_rows(all); }
  std::vector<program> programs_for(const symmetric_array<T>& right, const sparse::iteration_words& log,
                                    std::uint64_t last, double limit) override {
    const iterations<T, row_products<T>> k{rows_.values().handle(),
                                           {rows_.tiles(), sum_.data()},
                                           read_only(right),
                                           read_only(diagonal_),
                                           this->at_.data(),
                                           log,
                                           last,
                                           limit};
    return rows_.programs(k);
  }

  sparse::region_rows<T> rows_;
  symmetric_array<T> diagonal_, sum_;
};

template <class T>
class solver<T>::band_engine : public engine {
 public:
  band_engine(const machine& m, const diagonals<T>& a, const T* diagonal, const sparse::iteration_options& o)
      : engine((check(o), check_size(a), m)),
        options_(o),
        tiles_(tiles_for(m, o, a)),
        region_(this->machine_, a.rows, options_for(a, m.size())),
        log_(this->machine_) {
    for (int pe = 0; pe < this->machine_.size(); ++pe) most_rows_ = std::max(most_rows_, region_.part(pe).size());
    products_.size = a.rows;
    products_.pitch = most_rows_;
    products_.count = static_cast<int>(a.offsets.size());
    values_ = this->machine_.template allocate<T>(std::max<index_t>(1, most_rows_ * products_.count));
    const std::vector<std::int32_t> offsets(a.offsets.begin(), a.offsets.end());
    offsets_ = this->machine_.template allocate<std::int32_t>(std::max(products_.count, 1));
    for (int pe = 0; pe < this->machine_.size(); ++pe)
      this->machine_.copy(offsets_.on(pe), offsets.data(), offsets.size() * sizeof(std::int32_t));
    products_.offset = read_only(offsets_);
    for (const std::int32_t offset : offsets) {
      products_.lowest = std::min(products_.lowest, offset);
      products_.highest = std::max(products_.highest, offset);
    }
    for (int k = 0; k < products_.count; ++k) {
      for (int pe = 0; pe < this->machine_.size(); ++pe)
        copy_rows(values_.on(pe) + k * products_.pitch, a.values[static_cast<std::size_t>(k)], pe);
    }
    products_.value = read_only(values_);
    diagonal_ = of_rows(diagonal);
  }

 private:
  using kernel = iterations<T, diagonal_products<T>>;

  static void check_size(const diagonals<T>& a) {
    expect<argument_error>(a.rows <= sparse::most_rows, "jacobi: the matrix has ", a.rows, " rows; must have at most ",
                           sparse::most_rows, ": use a smaller one");
    for (const index_t offset : a.offsets)
      expect<argument_error>(std::abs(offset) <= sparse::most_rows, "jacobi: a diagonal at offset ", offset,
                             "; must be at most ", sparse::most_rows, " from the main one");
  }

  static int tiles_for(const machine& m, const sparse::iteration_options& o, const diagonals<T>& a) {
    constexpr index_t least_rows = 2048, most_rows = 64 * 1024;
    if (o.tiles != 0) return o.tiles;
    const index_t pes = m.size();
    const int blocks = sparse::blocks_beside_agent<kernel, T>(m, o)(launch_of(o, static_cast<int>(a.offsets.size())));
    return static_cast<int>(sparse::tiles_worth_their_counting(m, ceil_div(a.rows, least_rows * pes),
                                                               ceil_div(a.rows, most_rows * pes), blocks));
  }

  static launch_options launch_of(const sparse::iteration_options& o, int diagonals) {
    launch_options l;
    l.threads = sparse::threads_of(o);
    l.deadline = o.deadline;
    l.scratch_bytes = diagonal_products<T>::scratch_bytes(diagonals);
    return l;
  }

  region_options options_for(const diagonals<T>& a, int pes) const {
    region_options r = sparse::region_options_of(options_, pes);
    r.tiles = region_mapping::one_to_one(std::max<index_t>(1, ceil_div(a.rows, index_t{tiles_} * pes)));
    constexpr index_t line = 128 / static_cast<index_t>(sizeof(T));
    std::vector<index_range> parts;  // whole lines, about equally many
    for (int pe = 0; pe < pes; ++pe) {
      const index_range lines = share(ceil_div(a.rows, line), pes, pe);
      parts.push_back({std::min(lines.begin * line, a.rows), std::min(lines.end * line, a.rows)});
      if (pe > 0) r.bounds.push_back(parts.back().begin);
    }
    if (!r.credits) return r;
    constexpr std::size_t enough_for_a_halo = 64 * 1024;
    if (r.chunk_bytes == 0) r.chunk_bytes = enough_for_a_halo;  // a chunk is sent if a reader needs any of it
    r.subscribers = subscribers::only([reaches = a.offsets, parts](int, index_range elements) {
      std::uint64_t mask = 0;
      for (const index_t offset : reaches)  // whose rows read these elements
        for (std::size_t pe = 0; pe < parts.size(); ++pe)
          if (elements.begin - offset < parts[pe].end && elements.end - offset > parts[pe].begin)
            mask |= std::uint64_t{1} << pe;
      return mask;
    });
    return r;
  }

  void copy_rows(T* to, const T* all, int pe) {
    const index_range own = region_.part(pe);
    this->machine_.copy(to, all + own.begin, static_cast<std::size_t>(own.size()) * sizeof(T));
  }

  region<T>& values() override { return region_; }
  sparse::iteration_log& log() override { return log_; }
  sparse::iteration_report report() override {
    sparse::iteration_report r = log_.report();
    for (int pe = 0; pe < this->machine_.size(); ++pe) r.first_rows.push_back(region_.part(pe).begin);
    r.first_rows.push_back(region_.size());
    r.tiles = tiles_;
    sparse::add_region(r, region_.report());
    return r;
  }
  symmetric_array<T> of_rows(const T* all) override {
    auto array = this->machine_.template allocate<T>(std::max<index_t>(1, most_rows_));
    for (int pe = 0; pe < this->machine_.size(); ++pe) copy_rows(array.on(pe), all, pe);
    return array;
  }
  std::vector<program> programs_for(const symmetric_array<T>& right, const sparse::iteration_words& log,
                                    std::uint64_t last, double limit) override {
    const launch_options l = launch_of(options_, products_.count);
    const with_own_warp k{kernel{region_.handle(), products_, read_only(right), read_only(diagonal_), this->at_.data(),
                                 log, last, limit}};
    const int fit = region_.blocks_that_fit(k, l);
    return region_.programs(sparse::blocks_for(this->machine_, options_, fit, tiles_), k, l);
  }

  sparse::iteration_options options_;
  int tiles_;
  region<T> region_;
  index_t most_rows_ = 0;
  diagonal_products<T> products_;
  symmetric_array<std::int32_t> offsets_;
  symmetric_array<T> values_, diagonal_;
  sparse::iteration_log log_;
};

template <class T>
solver<T>::solver(const machine& m, const sparse::csr_view<T>& off_diagonal, const T* diagonal,
                  const sparse::iteration_options& options)
    : engine_(std::make_unique<rows_engine>(m, off_diagonal, diagonal, options)) {}
template <class T>
solver<T>::solver(const machine& m, const diagonals<T>& off_diagonal, const T* diagonal,
                  const sparse::iteration_options& options)
    : engine_(std::make_unique<band_engine>(m, off_diagonal, diagonal, options)) {}
template <class T>
solver<T>::~solver() = default;
template <class T>
solver<T>::solver(solver&&) noexcept = default;
template <class T>
solver<T>& solver<T>::operator=(solver&&) noexcept = default;

template <class T>
result solver<T>::solve(const T* b, T* x, const solve_options& options, const watcher& watch) {
  return engine_->solve(b, x, options, watch);
}

}  // namespace starling::jacobi
