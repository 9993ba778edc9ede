// x.read() and x.update(), dependencies of tasks on a region, and what they refuse.
#pragma once

#include <limits>

#include "starling/region/tasks/update_blocks.hpp"
#include "starling/stf/context.hpp"

namespace starling {

namespace region_words {

// What of a thread hierarchy matters to an update.
struct hierarchy_facts {
  bool par_outermost = false;
  bool has_blocks = false;  // the outermost level is of blocks or devices, and the innermost of threads of a block
  int waiting_level = -1;   // whose blocks may wait for each other; -1: there is none
  index_t outermost = 0;    // its width; 0: chosen
  index_t threads = 0;      // of a block, on a GPU
};

template <class Spec>
hierarchy_facts facts_of(const Spec& spec) {
  hierarchy_facts h{.par_outermost = !Spec::synchronises(0), .outermost = spec.width[0]};
  h.has_blocks = Spec::outer_levels() >= 1 && !Spec::spread() && Spec::outer_levels() < Spec::depth;
  if (Spec::blocks_synchronise()) h.waiting_level = Spec::first_synchronising();
  bool chosen = false;
  h.threads = 1;
  for (int l = Spec::outer_levels(); l < Spec::depth; ++l) {
    constexpr index_t most = std::numeric_limits<index_t>::max();
    const index_t width = spec.width[l];
    chosen = chosen || width == 0;
    if (width != 0) h.threads = width > most / h.threads ? most : h.threads * width;
  }
  if (chosen && h.threads < stf::usual_threads) h.threads *= stf::usual_threads / h.threads;
  return h;
}

}  // namespace region_words

// What is wrong with the use of a region, as task_error that names it, or argument_error.
class region_use {
 public:
  explicit region_use(const region_memory& r) : region_(&r) {}

  // The token that stands for the region in the context.
  std::shared_ptr<stf::data_state> token_in(stf::context& ctx) const;
  // Of an update by a loop, by a partitioner of regions if there is one.
  void check_loop(const region_partition* p, index_range elements) const;
  // By the threads of a hierarchy.
  void check_hierarchy(const region_words::hierarchy_facts& h) const;
  // Of a task that updates `updates` regions.
  void check_update(const stf::exec_place& where, int updates) const;
  void check_place(bool on_host) const;
  // That PE 0 has all of it.
  void check_copy() const;
  const region_memory& memory() const { return *region_; }

 private:
  const region_memory* region_;
};

// x.read(): the task sees the newest epoch, as its device has it; functions of the host get a copy.
template <class T>
class region_read {
 public:
  using view_type = region_source<T>;

  region_read(const region_memory& r, const region_handle<T>& h, where at) : use_(r), handle_(h) {
    access.mode = stf::access_mode::read;
    access.at = at;
  }

  void bind(stf::context& ctx) { access.data = use_.token_in(ctx); }
  template <class Partitioner, class Shape, class Deps>
  void check_loop(const Partitioner&, const stf::exec_place& where, const Shape&, const Deps&) const {
    use_.check_place(where.is_host());
  }
  region_source<T> view_on(int pe) const {
    use_.check_place(pe == host_place);
    return {handle_, pe};
  }
  auto copied_to_host(stf::context& ctx) const;

  stf::data_access access;

 private:
  region_use use_;
  region_handle<T> handle_;
};

namespace region_words {

template <class Dep>
inline constexpr bool is_update = false;
template <class T>
inline constexpr bool is_update<region_update<T>> = true;

}  // namespace region_words

// x.update(): the task reads the newest epoch and writes the next one. For parallel_for by x.partition() and for
// launch, on all PEs.
template <class T>
class region_update {
 public:
  region_update(const region_memory& r, const region_handle<T>& h, where at) : use_(r), handle_(h) {
    access.mode = stf::access_mode::rw;
    access.at = at;
  }

  void bind(stf::context& ctx) { access.data = use_.token_in(ctx); }
  template <class Partitioner, class Shape, class... Deps>
  void check_loop(const Partitioner& p, const stf::exec_place& where, const Shape& s,
                  const std::tuple<Deps...>&) const {
    const region_partition* parts = nullptr;
    index_range elements;
    if constexpr (std::is_same_v<Partitioner, region_partition>) parts = &p;
    if constexpr (Shape::rank() == 1) elements = s.range(0);
    use_.check_update(where, updates<Deps...>);
    use_.check_loop(parts, elements);
  }
  template <class Spec, class... Deps>
  void check_launch(const Spec& spec, const stf::exec_place& where, const std::tuple<Deps...>&) const {
    use_.check_update(where, updates<Deps...>);
    use_.check_hierarchy(region_words::facts_of(spec));
  }
  region_writer<T> view_on(int pe) const {
    const region_memory& r = use_.memory();
    return {handle_, r.tiles(pe), r.blocks_in_launch(), access.at, &r};
  }

  stf::data_access access;

 private:
  template <class... Deps>
  static constexpr int updates = (0 + ... + (region_words::is_update<Deps> ? 1 : 0));

  region_use use_;
  region_handle<T> handle_;
};

namespace stf::detail {

template <class T>
inline constexpr bool is_dependency<region_read<T>> = true;

}  // namespace stf::detail
}  // namespace starling
