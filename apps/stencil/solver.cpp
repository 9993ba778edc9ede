#include "stencil/solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "starling/base/error.hpp"
#include "stencil/cost_file.hpp"
#include "stencil/face_cutting.hpp"
#include "stencil/flagged_graph.hpp"
#include "stencil/host_controlled.hpp"
#include "stencil/march_kernels.hpp"
#include "stencil/resident_kernels.hpp"
#include "stencil/stencil_kernels.hpp"
#include "stencil/tune.hpp"

namespace starling::stencil {
namespace {

template <class T>
coefficients<T> weights(const problem<T>& p) {
  coefficients<T> w{};
  w.centre = p.coefficients[0];
  const std::size_t dimensions = p.shape.size();
  for (std::size_t i = 0; i < dimensions; ++i) {
    w.low[i + axes - dimensions] = p.coefficients[1 + 2 * i];
    w.high[i + axes - dimensions] = p.coefficients[2 + 2 * i];
  }
  return w;
}

// Whether a cell adds the same to each of its neighbours, in two dimensions; of zeros, of the same sign.
template <class T>
bool alike(const coefficients<T>& w) {
  for (const T other : {w.high[1], w.low[2], w.high[2]})
    if (other != w.low[1] || std::signbit(other) != std::signbit(w.low[1])) return false;
  return true;
}

void check(const run_options& o) {
  expect<argument_error>(o.steps >= 1, "stencil: steps = ", o.steps, "; must be at least 1");
  expect<argument_error>(o.check_every >= 0, "stencil: check_every = ", o.check_every,
                         "; must be at least 1, or 0 for never");
  expect<argument_error>(std::isfinite(o.tolerance) && o.tolerance >= 0, "stencil: tolerance = ", o.tolerance,
                         "; must be finite and at least 0");
  expect<argument_error>(o.tolerance == 0 || o.check_every > 0, "stencil: tolerance = ", o.tolerance,
                         " without check_every; say after how many steps to look");
  expect<argument_error>(o.face_blocks >= -1, "stencil: face_blocks = ", o.face_blocks,
                         "; must be at least 0, or -1 to choose");
  expect<argument_error>(o.packet_bytes >= -1, "stencil: packet_bytes = ", o.packet_bytes,
                         "; must be at least 0, or -1 to choose");
  expect<argument_error>(o.depth >= 0 && o.depth <= most_depth, "stencil: depth = ", o.depth, "; must be from 1 to ",
                         most_depth, ", or 0 to choose");
  expect<argument_error>(o.depth <= 1 || o.how == variant::temporal || o.how == variant::automatic,
                         "stencil: depth = ", o.depth, " with the variant ", name(o.how),
                         ", which exchanges in every step; choose the variant temporal");
}

std::vector<int> own_pes(const machine& m) {
  std::vector<int> own;
  for (auto pe = m.local_pes().begin; pe < m.local_pes().end; ++pe) own.push_back(static_cast<int>(pe));
  return own;
}

}  // namespace

template <class T>
solver<T>::solver(machine m, const problem<T>& p) : machine_(std::move(m)), own_pes_(own_pes(machine_)) {
  fields_.shape = geometry_of(p, machine_.size());
  fields_.weight = weights(p);
  const geometry& g = fields_.shape;
  place_faces(fields_);
  const index_t face_cells = fields_.face_start[faces];
  for (int slot = 0; slot < 2; ++slot) u_[slot] = machine_.template allocate<T>(g.largest(0) * g.stride[0]);
  inbox_ = machine_.template allocate<T>(face_cells * inbox_slots);
  mail_ = machine_.template allocate<packet>(fields_.mail_start[faces] * inbox_slots);
  outbox_ = machine_.template allocate<T>(face_cells);
  arrived_ = machine_.template allocate<signal>(faces * most_chunks);
  boxes_ = machine_.template allocate<box>(1);
  status_ = machine_.template allocate<program_status>(1);
  if (machine_.is_local(0)) machine_.fill(status_.on(0), 0, sizeof(program_status));
  pieces_taken_ = machine_.template allocate<std::uint32_t>(1);
  for (int slot = 0; slot < 2; ++slot) fields_.u[slot] = u_[slot].data();
  fields_.own = boxes_.data();
  fields_.inbox = inbox_.data();
  fields_.mail = mail_.data();
  fields_.outbox = outbox_.data();
  fields_.arrived = arrived_.data();
  fields_.pieces_taken = pieces_taken_.data();
  for (const int pe : own_pes_) {
    const box own = box_of(g, pe);
    machine_.copy(boxes_.on(pe), &own, sizeof own);
    machine_.fill(mail_.on(pe), 0, static_cast<std::size_t>(mail_.size()) * sizeof(packet));
    machine_.fill(arrived_.on(pe), 0, static_cast<std::size_t>(arrived_.size()) * sizeof(signal));
    main_.push_back(machine_.new_stream(pe));
    side_.push_back(machine_.new_stream(pe));
  }
  machine_.meet();  // before a neighbour sends its faces
}

// The box of each PE, to or from its place in the whole array: each process fills its own, and takes all.
template <class T>
void solver<T>::copy_cells(T* u, bool in) {
  const geometry& g = fields_.shape;
  const auto bytes = [](index_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
  for (int pe = 0; pe < machine_.size(); ++pe) {
    if (in && !machine_.is_local(pe)) continue;
    const box own = box_of(g, pe);
    for (index_t z = 0; z < own.extent[0]; ++z) {
      T* whole = u + ((own.first[0] + z) * g.extent[1] + own.first[1]) * g.extent[2] + own.first[2];
      for (int slot = 0; slot < (in ? 2 : 1); ++slot) {
        T* part = u_[in ? slot : generation_ % 2].on(pe) + z * g.stride[0];
        stream& s = main_[static_cast<std::size_t>(pe) % main_.size()];
        const auto width = bytes(own.extent[2]);
        const auto height = static_cast<std::size_t>(own.extent[1]);
        if (in)
          s.copy_rows(part, bytes(g.stride[1]), whole, bytes(g.extent[2]), width, height);
        else
          s.copy_rows(whole, bytes(g.extent[2]), part, bytes(g.stride[1]), width, height);
      }
    }
  }
  synchronize();
}

template <class T>
void solver<T>::load(const T* u) {
  expect<argument_error>(u != nullptr, "stencil: load from a null pointer");
  generation_ = reached_ + 1;
  reached_ = generation_;
  copy_cells(const_cast<T*>(u), true);
  loaded_ = true;
}

template <class T>
void solver<T>::store(T* u) {
  expect<argument_error>(u != nullptr, "stencil: store to a null pointer");
  expect<argument_error>(loaded_, "stencil: nothing to store; load() first, and again after an error");
  copy_cells(u, false);
  machine_.meet();  // before a process fills its own again
}

template <class T>
void solver<T>::synchronize() {
  for (stream& s : side_) s.synchronize();
  for (stream& s : main_) s.synchronize();
}

// Faces of the current generation go to the neighbours' inboxes.
template <class T>
void solver<T>::publish() {
  // On a virtual device blocks of a plain launch run one after the other.
  const int blocks = machine_.kind() == machine_kind::host ? 1 : 8;
  for (stream& s : main_)
    s.launch_kernel(blocks, publish_kernel(fields_, generation_), {.scratch_bytes = scratch_bytes});
  synchronize();
}

// Both slots get the current cells, for runs that do not compute.
template <class T>
void solver<T>::equal_slots() {
  const auto now = static_cast<std::size_t>(generation_ % 2);
  for (stream& s : main_)
    s.copy(u_[1 - now].on(s.pe()), u_[now].on(s.pe()), static_cast<std::size_t>(u_[now].size()) * sizeof(T));
  synchronize();
}

// No block has taken a piece of the inside after this generation.
template <class T>
void solver<T>::begin_taking() {
  for (const int pe : own_pes_) machine_.fill(pieces_taken_.on(pe), 0, sizeof(std::uint32_t));
  fields_.none_taken_at = generation_;
}

// Of each kernel that the variant may run.
template <class T>
int solver<T>::blocks_that_fit(const launch_options& launch, variant how, bool in_turn) const {
  const inside_cut inside = cut_inside<T>(fields_.shape, 1, launch.threads, cell_vector<T>::width, in_turn);
  if (how == variant::graph) {
    flagged_step_arguments<T> step;
    step.a.f = fields_;
    step.a.inside = inside;
    return machine_.blocks_that_fit(flagged_step_kernel(step), launch);
  }
  if (how != variant::cpu_free)
    return machine_.blocks_that_fit(step_kernel(step_arguments<T>{.f = fields_, .inside = inside}, step_part::whole, 0),
                                    launch);
  cpu_free_arguments<T> a;
  a.f = fields_;
  a.inside = inside;
  const int signalled = machine_.blocks_that_fit(cpu_free_kernel(a), launch);
  a.packets = true;
  return std::min(signalled, machine_.blocks_that_fit(cpu_free_kernel(a), launch));
}

template <class T>
run_result solver<T>::advance(const run_options& options) {
  check(options);
  expect<argument_error>(loaded_, "stencil: nothing to advance; load() first, and again after an error");
  if (options.how == variant::automatic) return advance_chosen(options);
  if (options.how == variant::resident || options.how == variant::temporal) {
    const cell_plan plan = plan_cells<T>(fields_.shape, limits_of(machine_), options);
    if (const auto* march = std::get_if<march_choice>(&plan)) {
      const launch_options launch = prepare(*march, options);
      return timed(options, march->blocks, march->threads,
                   [&](run_result& result) { advance_marching(options, *march, launch, result); });
    }
    if (const auto* plain = std::get_if<plain_steps>(&plan)) {
      run_options taken = options;
      taken.how = variant::cpu_free;
      taken.depth = 0;
      run_result result = advance(taken);
      result.why = plain->why;
      return result;
    }
    const auto& tiles = std::get<tile_choice>(plan);
    prepare(tiles, options);
    return timed(options, tiles.grid.blocks(), tiles.threads,
                 [&](run_result& result) { advance_resident(options, tiles, result); });
  }
  expect<unsupported_error>(options.how == variant::cpu_free || machine_.processes() == 1, "stencil: the variant ",
                            name(options.how),
                            " is for one process, since the host controls it; take cpu_free, "
                            "resident or temporal, or machine::host(n)");
  const launch_shape launch = choose_launch<T>(fields_.shape, machine_.kind(), options, [&](int threads, bool in_turn) {
    return blocks_that_fit({threads, scratch_of(faces), options.deadline}, options.how, in_turn);
  });
  if (launch.inside.in_turn()) begin_taking();
  if (!options.compute) equal_slots();
  if (options.how == variant::graph) {
    if (changes_.size() < launch.blocks) changes_ = machine_.template allocate<T>(launch.blocks);
    fields_.changes = changes_.data();
    flagged_graph<T> steps(machine_, fields_, main_, options, launch);
    steps.announce(generation_);
    return timed(options, launch.blocks, launch.threads, [&](run_result& result) {
      in_looks(options, launch.blocks, result, [&](index_t to, bool look) { steps.issue(to - generation_, look); });
    });
  }
  publish();
  return timed(options, launch.blocks, launch.threads, [&](run_result& result) {
    if (options.how == variant::cpu_free)
      advance_cpu_free(options, launch, result);
    else
      advance_from_host(options, launch, result);
  });
}

template <class T>
variant_choice solver<T>::chosen(const run_options& options) const {
  check(options);
  const step_costs costs = costs_of(machine_.kind(), tuned_device(machine_), machine_.device(0).pes_on_gpu);
  return choose_variant<T>(fields_.shape, limits_of(machine_), costs, options);
}

// What is chosen may need more memory than cpu_free does.
template <class T>
run_result solver<T>::advance_chosen(const run_options& options) {
  const variant_choice& choice = kept_choice(options);
  run_options taken = options;
  taken.how = choice.how;
  taken.depth = choice.depth;
  try {
    run_result result = advance(taken);
    result.why = choice.why;
    return result;
  } catch (const memory_error&) {
    if (!loaded_ || choice.how == variant::cpu_free) throw;
  }
  for (symmetric_array<T>& cells : march_cells_) cells.reset();
  chosen_->choice.why += message("; ran cpu_free, since the memory left is not enough for ", name(choice.how));
  chosen_->choice.how = variant::cpu_free;
  chosen_->choice.depth = 0;
  return advance_chosen(options);
}

// The choice depends on these options alone; runs come in many calls.
template <class T>
const variant_choice& solver<T>::kept_choice(const run_options& o) {
  const auto alike = [&](const run_options& other) {
    return o.check_every == other.check_every && o.blocks == other.blocks && o.threads == other.threads &&
           o.depth == other.depth && o.on_chip_bytes == other.on_chip_bytes;
  };
  if (!chosen_ || !alike(chosen_->options)) chosen_ = choice_made{o, chosen(o)};
  return chosen_->choice;
}

// What went well is in the result; after an error the cells are lost.
template <class T>
template <class F>
run_result solver<T>::timed(const run_options& options, int blocks, int threads, const F& work) {
  run_result result;
  result.how = options.how;
  result.blocks = blocks;
  result.threads = threads;
  loaded_ = false;
  const index_t before = generation_;
  reached_ = generation_ + options.steps;
  const auto start = std::chrono::steady_clock::now();
  try {
    work(result);
  } catch (...) {
    // Streams may hold more failures of the same cause; the machine is to be usable afterwards.
    for (auto* streams : {&side_, &main_})
      for (stream& s : *streams) try {
          s.synchronize();
        } catch (const error&) {
        }
    throw;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.steps = generation_ - before;
  result.converged = options.check_every > 0 && result.change <= options.tolerance;
  loaded_ = true;
  return result;
}

// Memory for tiles.
template <class T>
void solver<T>::prepare(const tile_choice& c, const run_options& options) {
  resident_arguments<T> a;
  a.f = fields_;
  a.grid = c.grid;
  const int fit = machine_.blocks_that_fit(resident_kernel(a), {c.threads, c.scratch_bytes, options.deadline});
  expect<launch_error>(c.grid.blocks() <= fit, "stencil: ", c.grid.blocks(), " tiles per PE, but only ", fit,
                       " blocks fit at once with ", c.threads, " threads and ", c.scratch_bytes,
                       " bytes on chip each; ask for fewer blocks");
  make_zeroed(tile_mail_, mail_slots * c.grid.blocks() * c.grid.mail_per_block());
  const index_t memory = c.grid.blocks() * c.grid.memory_elements;
  if (tile_memory_.size() < memory) {
    tile_memory_.reset();
    tile_memory_ = machine_.template allocate<T>(memory);
  }
}

template <class T>
void solver<T>::tell(persistent_run& run, const run_options& options) const {
  run.first = generation_;
  run.steps = options.steps;
  run.check_every = options.check_every;
  run.tolerance = options.tolerance;
  run.compute = options.compute;
  run.alike = alike(fields_.weight);
  run.status = status_.data();
}

// At least so many elements, all zero when new. What is there is not read any more.
template <class T>
template <class Element>
void solver<T>::make_zeroed(symmetric_array<Element>& array, index_t elements) {
  if (array.size() >= elements) return;
  array.reset();
  array = machine_.template allocate<Element>(elements);
  for (const int pe : own_pes_) machine_.fill(array.on(pe), 0, static_cast<std::size_t>(elements) * sizeof(Element));
}

template <class T>
void solver<T>::advance_resident(const run_options& options, const tile_choice& tiles, run_result& result) {
  resident_arguments<T> a;
  tell(a, options);
  a.f = fields_;
  a.grid = tiles.grid;
  if (tile_mail_.allocated()) a.mail = tile_mail_.data();
  if (tile_memory_.allocated()) a.memory = tile_memory_.data();
  a.first_message = messages_ + 1;
  messages_ += options.steps + 1;
  result.depth = tiles.grid.depth;
  role_plan roles;
  roles.add("tiles", tiles.grid.blocks());
  run_persistent(program{roles, resident_kernel(a), {tiles.threads, tiles.scratch_bytes, options.deadline}}, options,
                 result);
}

// Memory for the passes, and how they are launched.
template <class T>
launch_options solver<T>::prepare(const march_choice& march, const run_options& options) {
  const int members = machine_.kind() == machine_kind::host ? 1 : march.threads;
  const launch_options launch{march.threads, march_scratch<T>(members), options.deadline};
  march_arguments<T> a;
  a.f = fields_;
  const int fit = machine_.blocks_that_fit(march_kernel(a), launch);
  expect<launch_error>(march.blocks <= fit, "stencil: blocks = ", march.blocks, " per PE, but only ", fit,
                       " fit at once with ", march.threads, " threads each; ask for fewer");
  // Beside the rows there are elements that are loaded and not used.
  for (symmetric_array<T>& cells : march_cells_) make_zeroed(cells, march.layout.elements);
  return launch;
}

template <class T>
void solver<T>::advance_marching(const run_options& options, const march_choice& march, const launch_options& launch,
                                 run_result& result) {
  march_arguments<T> a;
  tell(a, options);
  a.f = fields_;
  a.layout = march.layout;
  for (int slot = 0; slot < 2; ++slot) a.cells[slot] = march_cells_[slot].data();
  result.depth = march.layout.depth;
  role_plan roles;
  roles.add("strips", march.blocks);
  run_persistent(program{roles, march_kernel(a), launch}, options, result);
}

// Runs one of the persistent programs and takes over the status that it leaves.
template <class T>
void solver<T>::run_persistent(const program& p, const run_options& options, run_result& result) {
  machine_.run({p});
  program_status status;
  machine_.copy(&status, status_.on(0), sizeof status);
  generation_ = status.generation;
  if (options.check_every > 0 && options.steps >= options.check_every) result.change = status.change;
}

template <class T>
void solver<T>::advance_cpu_free(const run_options& options, const launch_shape& launch, run_result& result) {
  cpu_free_arguments<T> a;
  tell(a, options);
  a.f = fields_;
  a.first_message = messages_ + 1;
  messages_ += options.steps + 1;
  a.inside = launch.inside;
  a.packets = face_bytes<T>(fields_.shape) <= most_packet_bytes(options, machine_.kind());
  cut_faces(a, launch);
  role_plan roles;
  if (launch.face_blocks == 0) {
    a.face_role = a.inside_role = roles.add("faces and inside", launch.blocks);
  } else {
    a.face_role = roles.add("faces", launch.face_blocks);
    a.inside_role = roles.add("inside", launch.blocks - launch.face_blocks);
  }
  run_persistent(program{roles, cpu_free_kernel(a), {launch.threads, scratch_of(a.chunks_per_block), options.deadline}},
                 options, result);
}

template <class T>
void solver<T>::advance_from_host(const run_options& options, const launch_shape& launch, run_result& result) {
  const index_t changes = 2 * launch.blocks;
  if (changes_.size() < changes) changes_ = machine_.template allocate<T>(changes);
  fields_.changes = changes_.data();
  host_controlled<T> host(machine_, fields_, main_, side_, options, launch);
  in_looks(options, host.blocks_with_changes(), result,
           [&](index_t to, bool look) { host.issue(generation_, to, look); });
}

// Issues the steps from look to look at the largest change: issue(to, whether to look then).
template <class T>
template <class F>
void solver<T>::in_looks(const run_options& options, int blocks_with_changes, run_result& result, const F& issue) {
  const index_t end = generation_ + options.steps;
  const index_t every = options.check_every > 0 ? options.check_every : options.steps;
  while (generation_ < end) {
    const index_t to = std::min(generation_ + every, end);
    const bool look = options.check_every > 0 && to - generation_ == every;
    issue(to, look);
    synchronize();
    generation_ = to;
    if (!look) continue;
    result.change = largest_change(blocks_with_changes);
    if (result.change <= options.tolerance) break;
  }
}

template <class T>
double solver<T>::largest_change(int blocks) {
  std::vector<T> seen(static_cast<std::size_t>(blocks));
  T largest = 0;
  for (int pe = 0; pe < machine_.size(); ++pe) {
    machine_.copy(seen.data(), changes_.on(pe), seen.size() * sizeof(T));
    for (const T change : seen) largest = maximum{}(largest, change);
  }
  return static_cast<double>(largest);
}

template class solver<float>;
template class solver<double>;

}  // namespace starling::stencil
