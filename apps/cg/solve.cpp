// A solve: right-hand sides go to the devices, launches follow one another until all have ended, results come back.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cg/setup/solve_checks.hpp"
#include "cg/solver_state.hpp"
#include "starling/base/error.hpp"

namespace starling::cg {
namespace {

template <class T>
double norm_of(const T* v, index_t n) {
  double sum = 0;
  for (index_t i = 0; i < n; ++i) sum += static_cast<double>(v[i]) * static_cast<double>(v[i]);
  return std::sqrt(sum);
}

template <class T>
bool is_zero(const T* v, index_t n) {
  return std::all_of(v, v + n, [](T x) { return x == T{0}; });
}

}  // namespace

template <class T>
struct solver<T>::state::job {
  const T* b;
  T* x;
  index_t columns;
  index_t rows;
  const solve_options& options;
  const std::function<bool(const progress&)>& watch;
  bool each;
  std::vector<goal> goals;
  std::vector<solve_result> results;

  const T* right(index_t column) const { return b + column * rows; }
  T* solution(index_t column) const { return x + column * rows; }
  solve_result& result(index_t column) { return results[static_cast<std::size_t>(column)]; }
};

template <class T>
std::vector<solve_result> solver<T>::state::solve(const T* b, T* x, index_t columns, const solve_options& options,
                                                  const std::function<bool(const progress&)>& watch, bool each) {
  expect<argument_error>(!products_only_, "cg: this solver was made for products only; make one without products_only");
  expect<argument_error>(columns >= 1, "cg: ", columns, " right-hand sides; must be at least 1");
  const index_t rows = facts().rows;
  check_vector("b", b, rows * columns);
  check_vector("x", x, rows * columns);
  check_solve_options(options, block_size_ > 0);
  expect<unsupported_error>(options.who == control::cpu_free || machine_.processes() == 1,
                            "cg: iterations that the host controls are for one process; take control::cpu_free, or "
                            "machine::host(n)");
  job j{b, x, columns, rows, options, watch, each, {}, std::vector<solve_result>(static_cast<std::size_t>(columns))};
  const double norm_m = store_preconditioner(options);
  for (index_t c = 0; c < columns; ++c) {
    // For a b of zeros the solution is known: begun there, the solve has converged.
    if (!options.fixed && is_zero(j.right(c), rows)) std::fill_n(j.solution(c), rows, T{0});
    j.goals.push_back(goal_of(options, j.right(c), j.solution(c), norm_m, j.result(c)));
  }
  place_columns(columns);
  for (const int pe : own_pes_) machine_.copy(goals_.on(pe), j.goals.data(), j.goals.size() * sizeof(goal));
  try {
    iterate(j);
    on_host_.reset();
  } catch (...) {
    on_host_.reset();
    forget_messages();
    throw;
  }
  for (index_t c = 0; c < columns && !j.result(c).history.empty(); ++c) {
    if (columns > 1) copy_rows(vector_at(vec_x), j.solution(c), true);
    j.result(c).residual = residual_of(j.right(c));
  }
  return std::move(j.results);
}

// What is to be reached for one right-hand side.
template <class T>
goal solver<T>::state::goal_of(const solve_options& o, const T* b, const T* x, double norm_m,
                               solve_result& result) const {
  const index_t rows = facts().rows;
  const double norm = norm_of(b, rows);
  expect<argument_error>(std::isfinite(norm), "cg: the norm of b is ", norm, "; scale the system down");
  expect<argument_error>(norm > 0 || is_zero(b, rows), "cg: the norm of b is 0, but b is not; scale the system up");
  result.target = std::max(o.rtol * norm, o.atol);
  goal g;
  g.last_iteration = o.max_iterations > 0 ? o.max_iterations : 10 * rows;
  g.fixed = o.fixed;
  g.target_rho = result.target * result.target;
  expect<argument_error>(g.target_rho >= std::numeric_limits<double>::min() || result.target == 0,
                         "cg: the residual is to be ", result.target,
                         ", whose square is no normal number; scale the system up");
  g.scales.norm_m = norm_m;
  if (o.how != method::pipelined) return g;
  g.replace_every = o.replace_every;
  if (o.replace_every == 0) {
    g.scales.epsilon = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    g.scales.norm_a = highest_eigenvalue_;
    g.scales.norm_b = norm;
    g.scales.norm_x = norm_of(x, rows);
  }
  return g;
}

// Room on the devices. A single column lies where the kernels' vectors b and x are.
template <class T>
void solver<T>::state::place_columns(index_t columns) {
  const auto grow = [this]<class Element>(symmetric_array<Element>& array, index_t size) {
    if (array.size() >= size) return;
    array = {};
    array = machine_.template allocate<Element>(size);
    for (const int pe : own_pes_)  // also behind the last row: see row_pack.hpp
      machine_.fill(array.on(pe), 0, static_cast<std::size_t>(size) * sizeof(Element));
  };
  grow(state_, 1 + columns);
  grow(goals_, columns);
  if (columns > 1) grow(columns_, 2 * columns * data_.stride);
  data_.state = state_.data();
  right_ = columns > 1 ? columns_.data() : vector_at(vec_b);
  solution_ = columns > 1 ? columns_.data() + columns * data_.stride : vector_at(vec_x);
}

template <class T>
void solver<T>::state::iterate(job& j) {
  const solve_options& o = j.options;
  const launch_shape shape = choose_shape(o);
  for (solve_result& r : j.results) {
    r.blocks = shape.blocks;
    r.threads = shape.threads;
    r.kept_bytes = shape.kept_bytes;
  }
  program_arguments<T> a;
  a.s = data_;
  a.how = o.how;
  a.goals = goals_.data();
  a.right = right_;
  a.solution = solution_;
  a.columns = j.columns;
  a.kept = shape.kept;
  for (index_t c = 0; c < j.columns && !on_host_; ++c) {
    copy_rows(right_ + c * data_.stride, const_cast<T*>(j.right(c)), true);
    copy_rows(solution_ + c * data_.stride, j.solution(c), true);
  }
  iteration_state now;
  begin_column(j, now, 0);
  // Stretches last a fraction of a second, so that somebody who watches sees something.
  constexpr double stretch_seconds = 0.2;
  constexpr index_t most_stretch = most_history - 1;
  index_t stretch = j.each ? 1 : j.watch ? 64 : most_stretch;
  for (;;) {
    a.history_entries = stretch + 1;
    const auto start = std::chrono::steady_clock::now();
    now = run_stretch(j, a, shape, now);
    // All processes go on alike.
    const double took = machine_.agree(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    a.begin = false;
    if (!j.each && j.watch && took < stretch_seconds / 2) stretch = std::min(2 * stretch, most_stretch);
    if (j.watch) {
      if (j.each)
        copy_rows(on_host_ ? vector_at(vec_x) : solution_ + now.column * data_.stride, j.solution(now.column), false);
      if (!j.watch({now.iteration, std::sqrt(now.rho), j.result(now.column).target, now.column})) break;
    }
    if (now.stopped == 0) continue;
    if (has_broken_down(now) || now.column + 1 == j.columns) break;
    if (on_host_) copy_rows(vector_at(vec_x), j.solution(now.column), false);
    begin_column(j, now, now.column + 1);
    a.begin = true;
  }
  if (on_host_) copy_rows(vector_at(vec_x), j.solution(now.column), false);
  for (index_t c = 0; c <= now.column && !on_host_; ++c) copy_rows(solution_ + c * data_.stride, j.solution(c), false);
}

template <class T>
launch_shape solver<T>::state::choose_shape(const solve_options& o) {
  launch_shape shape = choose_launch(machine_, matrix_, data_, o);
  data_.a = matrix_.partitioned(shape.blocks, shape.unit).data;
  allocate_receive_slots(shape.blocks);
  if (o.who != control::cpu_free) on_host_ = new_host_controlled(shape, o);
  return shape;
}

// Where the next launch begins.
template <class T>
void solver<T>::state::begin_column(const job& j, iteration_state& now, index_t column) {
  now = {};
  now.column = column;
  now.products = products_;
  now.sums = sums_;
  for (const int pe : own_pes_) machine_.copy(state_.on(pe), &now, sizeof now);
  if (!on_host_) return;
  copy_rows(vector_at(vec_b), const_cast<T*>(j.right(column)), true);
  copy_rows(vector_at(vec_x), j.solution(column), true);
}

// The same blocks and threads as in the persistent program, so the same bits; nothing stays in shared memory.
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

// One launch, or as much of the host's: until the history is full, or there is nothing left to do.
template <class T>
iteration_state solver<T>::state::run_stretch(job& j, program_arguments<T>& a, const launch_shape& shape,
                                              const iteration_state& from) {
  iteration_state now;
  double seconds = 0;
  if (on_host_) {
    goal g = j.goals[static_cast<std::size_t>(from.column)];
    const index_t last = from.iteration + a.history_entries - 1;
    g.final_launch = g.last_iteration <= last;
    g.last_iteration = std::min(g.last_iteration, last);
    const double before = on_host_->seconds();
    now = on_host_->advance(g, from.iteration, a.begin);
    now.column = from.column;
    now.history_at = -from.iteration;
    seconds = on_host_->seconds() - before;
  } else {
    role_plan roles;
    roles.add("rows", shape.blocks);
    roles.add("sums", 1);
    const auto start = std::chrono::steady_clock::now();
    machine_.run({program{roles, program_kernel(a), {shape.threads, shape.scratch_bytes, j.options.deadline}}});
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    machine_.copy(&now, state_.on(own_pes_.front()), sizeof now);
    products_ = now.products;
    sums_ = now.sums;
  }
  note_columns(j, from, now, seconds);
  return now;
}

// What a launch has done for the columns that it went through.
template <class T>
void solver<T>::state::note_columns(job& j, const iteration_state& from, const iteration_state& now, double seconds) {
  const auto n = static_cast<std::size_t>(now.column - from.column + 1);
  std::vector<iteration_state> ends(n, now);
  if (n > 1) machine_.copy(ends.data(), state_.on(0) + 1 + from.column, (n - 1) * sizeof(iteration_state));
  std::vector<double> history(static_cast<std::size_t>(now.history_at + now.iteration + 1));
  machine_.copy(history.data(), history_.on(0), history.size() * sizeof(double));
  for (const iteration_state& st : ends) {
    solve_result& r = j.result(st.column);
    const index_t first = st.column == from.column ? from.iteration : 0;
    note_column(r, st, first, history);
    r.seconds += seconds * static_cast<double>(st.iteration - first + 1) / static_cast<double>(history.size());
  }
}

template <class T>
void solver<T>::state::note_column(solve_result& result, const iteration_state& st, index_t from,
                                   const std::vector<double>& history) {
  result.why = st.stopped == 0 ? stop::iterations : static_cast<stop>(st.stopped - 1);
  result.iterations = st.iteration;
  result.breakdown_value = st.breakdown_value;
  result.replacements = st.replacements - 1;
  result.history.resize(static_cast<std::size_t>(st.iteration) + 1);
  for (index_t i = from; i <= st.iteration; ++i)
    result.history[static_cast<std::size_t>(i)] = std::sqrt(history[static_cast<std::size_t>(st.history_at + i)]);
}

// |b - A x| of the x that is on the devices, in double.
template <class T>
double solver<T>::state::residual_of(const T* b) {
  products_by_launch_.multiply(data_, vec_x, vec_w);
  std::vector<T> w(static_cast<std::size_t>(facts().rows));
  copy_rows(vector_at(vec_w), w.data(), false);
  std::vector<double> r(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) r[i] = static_cast<double>(b[i]) - static_cast<double>(w[i]);
  return norm_of(r.data(), facts().rows);
}

template std::vector<solve_result> solver<float>::state::solve(const float*, float*, index_t, const solve_options&,
                                                               const std::function<bool(const progress&)>&, bool);
template std::vector<solve_result> solver<double>::state::solve(const double*, double*, index_t, const solve_options&,
                                                                const std::function<bool(const progress&)>&, bool);

}  // namespace starling::cg
