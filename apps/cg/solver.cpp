#include "cg/solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cg/matrix_checks.hpp"
#include "cg/preconditioner_values.hpp"
#include "cg/solve_checks.hpp"
#include "cg/solver_state.hpp"
#include "starling/base/error.hpp"

namespace starling::cg {
namespace {

constexpr double eigenvalue_ratio = 30;  // of the interval that Chebyshev's polynomial is made for
constexpr index_t most_stretch = 16384;  // iterations of a launch, for which there is room in the history

template <class T>
double norm_of(const T* v, index_t n) {
  double sum = 0;
  for (index_t i = 0; i < n; ++i) sum += static_cast<double>(v[i]) * static_cast<double>(v[i]);
  return std::sqrt(sum);
}

}  // namespace

template <class T>
solver<T>::state::state(machine m, const csr_view<T>& a, const matrix_options& options)
    : machine_(std::move(m)),
      matrix_(machine_, a, options),
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
  boxes_ = machine_.template allocate<packet>(2 * data_.halo);
  state_ = machine_.template allocate<iteration_state>(1);
  history_ = machine_.template allocate<double>(most_stretch + 1);
  data_.vectors = vectors_.data();
  data_.published = published_.data();
  data_.boxes = boxes_.data();
  data_.state = state_.data();
  data_.history = history_.data();
  for (int pe = 0; pe < machine_.size(); ++pe) {
    machine_.fill(vectors_.on(pe), 0, static_cast<std::size_t>(vectors_.size()) * sizeof(T));
    machine_.fill(published_.on(pe), 0, static_cast<std::size_t>(published_.size()) * sizeof(T));
    streams_.push_back(machine_.new_stream(pe));
  }
  forget_messages();
}

template <class T>
void solver<T>::state::allocate_boxes(int blocks) {
  if (ready_.size() < blocks) {
    ready_ = machine_.template allocate<signal>(blocks);
    taken_ = machine_.template allocate<signal>(blocks);
    parts_ = machine_.template allocate<packet>(index_t{2} * blocks * sum_words);
    totals_ = machine_.template allocate<packet>(index_t{2} * machine_.size() * sum_words);
    forget_messages();
  }
  data_.ready = ready_.data();
  data_.taken = taken_.data();
  data_.sums = {parts_.data(), totals_.data(), blocks};
}

// Empty boxes and signals, so that numbers begin anew.
template <class T>
void solver<T>::state::forget_messages() {
  const auto clear = [&](auto& array, std::size_t bytes) {
    for (int pe = 0; pe < machine_.size() && array.allocated(); ++pe)
      machine_.fill(array.on(pe), 0, static_cast<std::size_t>(array.size()) * bytes);
  };
  clear(boxes_, sizeof(packet));
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
  for (int pe = 0; pe < machine_.size(); ++pe)  // also behind the last row: see row_pack.hpp
    machine_.fill(m_values_.on(pe), 0, static_cast<std::size_t>(m_values_.size()) * sizeof(T));
  std::vector<T> inverse;
  if (o.m == preconditioner::jacobi)
    for (const T d : diagonal_) inverse.push_back(T{1} / d);
  const std::vector<T>& values = o.m == preconditioner::jacobi ? inverse : inverse_blocks_;
  for (int pe = 0; pe < machine_.size(); ++pe) {
    const rows_of_pe& own = matrix_.rows(pe);
    if (own.rows > 0)
      machine_.copy(m_values_.on(pe), values.data() + own.first * per_row,
                    static_cast<std::size_t>(own.rows * per_row) * sizeof(T));
  }
  return norm_of_blocks(values, per_row);
}

template <class T>
void solver<T>::state::copy_vector(vector_name v, T* host, bool in) {
  for (int pe = 0; pe < machine_.size(); ++pe) {
    const rows_of_pe& own = matrix_.rows(pe);
    T* there = vectors_.on(pe) + v * data_.stride;
    T* here = host + own.first;
    if (own.rows > 0)
      machine_.copy(in ? there : here, in ? here : there, static_cast<std::size_t>(own.rows) * sizeof(T));
  }
}

template <class T>
solve_result solver<T>::state::solve(const T* b, T* x, const solve_options& options,
                                     const std::function<bool(const progress&)>& watch, bool each) {
  expect<argument_error>(!products_only_, "cg: this solver was made for products only; make one without products_only");
  check_vector("b", b, facts().rows);
  check_vector("x", x, facts().rows);
  check_solve_options(options, block_size_ > 0);
  solve_result result;
  const double norm = norm_of(b, facts().rows);
  expect<argument_error>(std::isfinite(norm), "cg: the norm of b is ", norm, "; scale the system down");
  expect<argument_error>(norm > 0 || std::all_of(b, b + facts().rows, [](T v) { return v == T{0}; }),
                         "cg: the norm of b is 0, but b is not; scale the system up");
  result.target = std::max(options.rtol * norm, options.atol);
  if (norm == 0 && !options.fixed) {
    std::fill(x, x + facts().rows, T{0});
    result.why = stop::converged;
    result.history = {0.0};
    return result;
  }
  gap_scales scales;
  scales.norm_m = store_preconditioner(options);
  if (options.how == method::pipelined && options.replace_every == 0) {
    scales.epsilon = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    scales.norm_a = highest_eigenvalue_;
    scales.norm_b = norm;
    scales.norm_x = norm_of(x, facts().rows);
  }
  copy_vector(vec_b, const_cast<T*>(b), true);
  copy_vector(vec_x, x, true);
  try {
    iterate(options, scales, result, x, watch, each);
    on_host_.reset();
  } catch (...) {
    on_host_.reset();
    forget_messages();
    throw;
  }
  copy_vector(vec_x, x, false);
  result.residual = residual_of(b);
  return result;
}

template <class T>
void solver<T>::state::iterate(const solve_options& o, const gap_scales& scales, solve_result& result, T* x,
                               const std::function<bool(const progress&)>& watch, bool each) {
  launch_shape shape = choose_launch(machine_, matrix_, data_, o);
  data_.a = matrix_.dealt_to(shape.blocks, shape.unit).data;
  allocate_boxes(shape.blocks);
  if (o.who != control::cpu_free) on_host_ = new_host_controlled(shape, o);
  result.blocks = shape.blocks;
  result.threads = shape.threads;
  result.kept_bytes = shape.kept_bytes;
  program_arguments<T> a;
  a.s = data_;
  a.how = o.how;
  a.kept = shape.kept;
  a.g = {0, true, o.fixed, result.target * result.target, o.how == method::pipelined ? o.replace_every : 0, scales};
  const index_t end = o.max_iterations > 0 ? o.max_iterations : 10 * facts().rows;
  iteration_state now;
  now.products = products_;
  now.sums = sums_;
  for (int pe = 0; pe < machine_.size(); ++pe) machine_.copy(state_.on(pe), &now, sizeof now);
  // Stretches last a fraction of a second, so that somebody who watches sees something.
  constexpr double stretch_seconds = 0.2;
  index_t stretch = each ? 1 : watch ? 64 : most_stretch;
  while (now.stopped == 0) {
    a.g.last_iteration = std::min(end, now.iteration + stretch);
    a.g.final_launch = a.g.last_iteration == end;
    a.first_iteration = now.iteration;
    const double before = result.seconds;
    now = run_stretch(a, shape, o, result);
    a.begin = false;
    const double took = result.seconds - before;
    if (!each && watch && took < stretch_seconds / 2) stretch = std::min(2 * stretch, most_stretch);
    if (!watch) continue;
    if (each) copy_vector(vec_x, x, false);
    if (!watch({now.iteration, std::sqrt(now.rho), result.target})) break;
  }
  result.why = now.stopped == 0 ? stop::iterations : static_cast<stop>(now.stopped - 1);
  result.iterations = now.iteration;
  result.breakdown_value = now.breakdown_value;
  result.replacements = now.replacements - 1;
}

// The same blocks and threads as in the persistent program, so the same bits; nothing stays in fast memory.
template <class T>
std::unique_ptr<host_controlled<T>> solver<T>::state::new_host_controlled(launch_shape& shape, const solve_options& o) {
  const bool on_gpu = machine_.kind() == machine_kind::cuda;
  const bool compressed = facts().how == storage::compressed;
  shape.kept = {};
  shape.kept_bytes = 0;
  shape.scratch_bytes = host_step_scratch<T>(shape.threads, on_gpu, compressed, machine_.size());
  const launch_options options{shape.threads, shape.scratch_bytes, o.deadline};
  return std::make_unique<host_controlled<T>>(machine_, data_, streams_, o,
                                              host_launch{shape.blocks, options, matrix_.neighbours()});
}

// One launch, or as much of the host's: up to the goal's last iteration.
template <class T>
iteration_state solver<T>::state::run_stretch(program_arguments<T>& a, const launch_shape& shape,
                                              const solve_options& o, solve_result& result) {
  iteration_state now;
  if (on_host_) {
    now = on_host_->advance(a.g, a.first_iteration, a.begin);
    result.seconds = on_host_->seconds();
  } else {
    role_plan roles;
    roles.add("rows", shape.blocks);
    roles.add("sums", 1);
    const auto start = std::chrono::steady_clock::now();
    machine_.run({program{roles, program_kernel(a), {shape.threads, shape.scratch_bytes, o.deadline}}});
    result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    machine_.copy(&now, state_.on(0), sizeof now);
    products_ = now.products;
    sums_ = now.sums;
  }
  const auto first = static_cast<std::size_t>(a.first_iteration);
  result.history.resize(static_cast<std::size_t>(now.iteration) + 1);
  machine_.copy(result.history.data() + first, history_.on(0), (result.history.size() - first) * sizeof(double));
  for (std::size_t i = first; i < result.history.size(); ++i) result.history[i] = std::sqrt(result.history[i]);
  return now;
}

// |b - A x| of what is on the devices, in double.
template <class T>
double solver<T>::state::residual_of(const T* b) {
  products_by_launch_.multiply(data_, vec_x, vec_w);
  std::vector<T> w(static_cast<std::size_t>(facts().rows));
  copy_vector(vec_w, w.data(), false);
  std::vector<double> r(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) r[i] = static_cast<double>(b[i]) - static_cast<double>(w[i]);
  return norm_of(r.data(), facts().rows);
}

template <class T>
void solver<T>::state::multiply(const T* x, T* y) {
  expect<argument_error>(x != nullptr && y != nullptr, "cg: multiply with a null pointer; pass arrays of ",
                         facts().rows, " elements");
  copy_vector(vec_d, const_cast<T*>(x), true);
  products_by_launch_.multiply(data_, vec_d, vec_n);
  copy_vector(vec_n, y, false);
}

// ---- the public face ----

template <class T>
solver<T>::solver(machine m, const csr_view<T>& a, const matrix_options& options) {
  check_matrix_options(options);
  check_arrays(a);
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
  return state_->solve(b, x, options, watch, each);
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
