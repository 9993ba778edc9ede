#include "cg/solver.hpp"

#include <algorithm>
#include <utility>

#include "cg/setup/matrix_checks.hpp"
#include "cg/setup/preconditioner_values.hpp"
#include "cg/setup/solve_checks.hpp"
#include "cg/solver_state.hpp"
#include "sparse/matrix_checks.hpp"
#include "starling/base/error.hpp"

namespace starling::cg {
namespace {

constexpr double eigenvalue_ratio = 30;  // of the interval that Chebyshev's polynomial is made for

std::vector<int> own_pes(const machine& m) {
  std::vector<int> own;
  for (auto pe = m.local_pes().begin; pe < m.local_pes().end; ++pe) own.push_back(static_cast<int>(pe));
  return own;
}

row_options rows_of(const matrix_options& o) {
  return {.split = o.split, .first_rows = o.first_rows, .how = o.how, .unit = std::max<index_t>(o.block_size, 1)};
}

}  // namespace

template <class T>
solver<T>::state::state(machine m, const csr_view<T>& a, const matrix_options& options)
    : machine_(std::move(m)),
      own_pes_(own_pes(machine_)),
      matrix_(machine_, a, rows_of(options)),
      products_only_(options.products_only),
      block_size_(options.block_size),
      products_by_launch_(machine_, matrix_, streams_) {
  if (!products_only_) {
    diagonal_ = diagonal(a);
    highest_eigenvalue_ = largest_row_sum(a);
    if (block_size_ > 0) inverse_blocks_ = inverse_blocks(a, block_size_, facts().first_rows);
  }
  const index_t stride = round_up(std::max<index_t>(matrix_.most_rows(), 1), 32);
  data_.stride = stride;
  data_.columns = round_up(matrix_.most_columns(), 32);
  data_.halo = matrix_.most_halo();
  vectors_ = machine_.template allocate<T>(stride * vector_count);
  published_ = machine_.template allocate<T>(2 * data_.columns);
  receive_slots_ = machine_.template allocate<packet>(2 * data_.halo);
  history_ = machine_.template allocate<double>(most_history);
  data_.vectors = vectors_.data();
  data_.published = published_.data();
  data_.receive_slots = receive_slots_.data();
  data_.history = history_.data();
  for (const int pe : own_pes_) {
    machine_.fill(vectors_.on(pe), 0, static_cast<std::size_t>(vectors_.size()) * sizeof(T));
    machine_.fill(published_.on(pe), 0, static_cast<std::size_t>(published_.size()) * sizeof(T));
    streams_.push_back(machine_.new_stream(pe));
  }
  forget_messages();
}

template <class T>
void solver<T>::state::allocate_receive_slots(int blocks) {
  if (ready_.size() < blocks) {
    auto ready = machine_.template allocate<signal>(blocks);
    auto taken = machine_.template allocate<signal>(blocks);
    auto parts = machine_.template allocate<packet>(index_t{2} * blocks * sum_words);
    auto totals = machine_.template allocate<packet>(index_t{2} * machine_.size() * sum_words);
    ready_ = std::move(ready);  // all of them or none
    taken_ = std::move(taken);
    parts_ = std::move(parts);
    totals_ = std::move(totals);
    forget_messages();
  }
  data_.ready = ready_.data();
  data_.taken = taken_.data();
  data_.sums = {parts_.data(), totals_.data(), blocks};
}

// Empty receive slots and signals, so that numbers begin anew.
template <class T>
void solver<T>::state::forget_messages() {
  const auto clear = [&](auto& array, std::size_t bytes) {
    if (!array.allocated()) return;
    for (const int pe : own_pes_) machine_.fill(array.on(pe), 0, static_cast<std::size_t>(array.size()) * bytes);
  };
  clear(receive_slots_, sizeof(packet));
  clear(ready_, sizeof(signal));
  clear(taken_, sizeof(signal));
  clear(parts_, sizeof(packet));
  clear(totals_, sizeof(packet));
  products_ = 0;
  sums_ = 0;
}

// Returns at least its largest eigenvalue.
template <class T>
double solver<T>::state::store_preconditioner(const solve_options& o) {
  data_.m = o.m;
  data_.degree = o.degree;
  data_.block_size = static_cast<int>(block_size_);
  data_.highest = 1.0001 * highest_eigenvalue_;
  data_.lowest = highest_eigenvalue_ / eigenvalue_ratio;
  if (o.m == preconditioner::none) return 1;
  if (o.m == preconditioner::chebyshev) return norm_of_polynomial(o.degree, data_.lowest, data_.highest);
  const index_t per_row = o.m == preconditioner::jacobi ? 1 : block_size_;
  if (m_values_.size() < data_.stride * per_row) m_values_ = machine_.template allocate<T>(data_.stride * per_row);
  data_.m_values = m_values_.data();
  for (const int pe : own_pes_)  // also behind the last row: see row_pack.hpp
    machine_.fill(m_values_.on(pe), 0, static_cast<std::size_t>(m_values_.size()) * sizeof(T));
  std::vector<T> inverse;
  if (o.m == preconditioner::jacobi)
    for (const T d : diagonal_) inverse.push_back(T{1} / d);
  const std::vector<T>& values = o.m == preconditioner::jacobi ? inverse : inverse_blocks_;
  for (const int pe : own_pes_) {
    const rows_of_pe& own = matrix_.rows(pe);
    if (own.rows > 0)
      machine_.copy(m_values_.on(pe), values.data() + own.first * per_row,
                    static_cast<std::size_t>(own.rows * per_row) * sizeof(T));
  }
  return norm_of_blocks(values, per_row);
}

// Each process brings the rows of its own PEs, and takes those of all.
template <class T>
void solver<T>::state::copy_rows(sym<T> there, T* host, bool in) {
  for (int pe = 0; pe < machine_.size(); ++pe) {
    if (in && !machine_.is_local(pe)) continue;
    const rows_of_pe& own = matrix_.rows(pe);
    T* here = host + own.first;
    if (own.rows > 0)
      machine_.copy(in ? there.on(pe) : here, in ? here : there.on(pe), static_cast<std::size_t>(own.rows) * sizeof(T));
  }
  if (!in) machine_.meet();  // before a process brings others
}

template <class T>
void solver<T>::state::multiply(const T* x, T* y) {
  expect<argument_error>(x != nullptr && y != nullptr, "cg: multiply with a null pointer; pass arrays of ",
                         facts().rows, " elements");
  copy_rows(vector_at(vec_d), const_cast<T*>(x), true);
  products_by_launch_.multiply(data_, vec_d, vec_n);
  copy_rows(vector_at(vec_n), y, false);
}

// ---- the public face ----

template <class T>
solver<T>::solver(machine m, const csr_view<T>& a, const matrix_options& options) {
  check_matrix_options(options);
  check_arrays(a);
  expect<argument_error>(a.nonzeros() == 0 || a.value != nullptr, "cg: the values of the matrix's ", a.nonzeros(),
                         " entries are a null pointer");
  if (!options.products_only) check_symmetric_positive(a);
  state_ = std::make_unique<state>(std::move(m), a, options);
}
template <class T>
solver<T>::~solver() = default;
template <class T>
solver<T>::solver(solver&&) noexcept = default;
template <class T>
solver<T>& solver<T>::operator=(solver&&) noexcept = default;

template <class T>
solve_result solver<T>::solve(const T* b, T* x, const solve_options& options,
                              const std::function<bool(const progress&)>& watch, bool each) {
  return std::move(state_->solve(b, x, 1, options, watch, each).front());
}
template <class T>
std::vector<solve_result> solver<T>::solve_columns(const T* b, T* x, index_t columns, const solve_options& options,
                                                   const std::function<bool(const progress&)>& watch, bool each) {
  return state_->solve(b, x, columns, options, watch, each);
}
template <class T>
void solver<T>::multiply(const T* x, T* y) {
  state_->multiply(x, y);
}
template <class T>
std::vector<double> solver<T>::time_multiply(int products, int repetitions) {
  return state_->time_multiply(products, repetitions);
}
template <class T>
const matrix_facts& solver<T>::facts() const {
  return state_->facts();
}
template <class T>
machine& solver<T>::device() {
  return state_->device();
}

template class solver<float>;
template class solver<double>;

}  // namespace starling::cg
