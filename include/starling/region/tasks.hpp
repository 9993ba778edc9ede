// Regions in tasks of stream, graph and persistent contexts: what x.partition(), x.read() and x.update() are.
//
//   ctx.parallel_for(x.partition(), stf::exec_place::all_devices(), x.shape(), x.update(), A.read())
//       ->*[] STARLING_HD (index_t i, region_step<float> v, ...) { v.next(i) = f(v.old, i); };
//
// To a context a region is one thing without bytes, ordered by reads and writes like logical data, and it never moves:
// a task reads the copy of the device that it runs on. An update writes the next epoch, each PE its part; it is over
// when all PEs have all of it, so that nobody awaits anything. The epoch is a word in each PE's memory, so that
// recorded tasks go on with the next one in each launch. The region must live until tasks that use it are over.
#pragma once

#include "starling/region/region.hpp"
#include "starling/stf/context.hpp"

namespace starling {

// Which PE writes which elements, as a partitioner (starling/stf/partition.hpp) of any loop and place: boxes of as many
// indices as the region has elements are cut along their slowest dimension. Another number of indices, and of owners
// than one or the region's PEs, are a task_error.
class region_partition {
 public:
  region_partition() = default;
  explicit region_partition(const std::vector<index_t>& bounds) : bounds_(&bounds) {}

  template <stf::detail::box_like Shape>
  auto part(const Shape& s, index_t which, index_t count) const {
    using box_type = stf::detail::box_type_of<Shape>;
    index_range r[box_type::rank()];
    for (int d = 0; d < box_type::rank(); ++d) r[d] = s.range(d);
    check(r[box_type::slowest], which, count);
    if (count > 1) r[box_type::slowest] = of(which);
    return box_type(stf::box<box_type::rank()>(r));
  }
  template <stf::detail::box_like Shape>
  index_t owner(const typename Shape::coords_t& c, const Shape& s, index_t count) const {
    constexpr int d = stf::detail::box_type_of<Shape>::slowest;
    check(s.range(d), 0, count);
    index_t pe = 0;
    while (count > 1 && c[d] >= of(pe).end) ++pe;
    return pe;
  }

  friend bool operator==(const region_partition&, const region_partition&) = default;

 private:
  index_range of(index_t pe) const {
    const auto p = static_cast<std::size_t>(pe);
    return {(*bounds_)[p], (*bounds_)[p + 1]};
  }
  void check(index_range elements, index_t which, index_t count) const;

  const std::vector<index_t>* bounds_ = nullptr;
};

namespace region_words {

// In check mode: that the PE gets the element.
void check_read(const region_state& s, int pe, index_t element, where at);

}  // namespace region_words

// The newest epoch as one PE has it: v(i) is element i. Only within kernels.
template <class T, bool Checked = target::checked>
class region_view {
 public:
  STARLING_HD region_view(const region_state& s, const T* data, int pe) : data_(data), state_(&s), pe_(pe) {}

  STARLING_HD const T& operator()(index_t i, where at = where::current()) const {
    if constexpr (Checked) region_words::check_read(*state_, pe_, i, at);
    return data_[i];
  }
  STARLING_HD const T* data() const { return data_; }
  STARLING_HD index_t size() const { return state_->size; }

 private:
  const T* data_;
  const region_state* state_;
  int pe_;
};

// What tasks get for x.read() and hand to kernels, where it becomes a region_view, or is read like one.
template <class T>
class region_source {
 public:
  region_source(const region_handle<T>& h, int pe) : handle_(h), pe_(pe) {}

  STARLING_HD region_view<T> view() const {
    const region_state& s = handle_.state();
    return {s, (handle_.values() + s.buffer_of(*s.newest.on(pe_)) * handle_.pitch()).on(pe_), pe_};
  }
  STARLING_HD operator region_view<T>() const { return view(); }  // NOLINT: bodies take either
  STARLING_HD const T& operator()(index_t i, where at = where::current()) const { return view()(i, at); }
  STARLING_HD index_t size() const { return handle_.size(); }
  // The same on another PE, for tasks on several.
  region_source on(int pe) const { return {handle_, pe}; }

 private:
  region_handle<T> handle_;
  int pe_;
};

// What the body of an update gets: the epoch before, whole, and where the next one is stored; v.next(i) = f(v.old, i).
template <class T>
struct region_step {
  region_view<T> old;
  tracked<T> next;
  std::uint64_t epoch;  // of `next`
};

// What is wrong with the use of a region, as task_error that names it, or argument_error.
class region_use {
 public:
  explicit region_use(const region_memory& r) : region_(&r) {}

  // The token that stands for the region in the context.
  std::shared_ptr<stf::data_state> token_in(stf::context& ctx) const;
  // Of a loop that updates `updates` regions, by a partitioner of regions if there is one.
  void check_update(const region_partition* p, const stf::exec_place& where, index_range elements, int updates) const;
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

// What the kernel of an update is given for x.update().
template <class T>
struct region_writer {
  region_handle<T> handle;
  int tiles = 0;                          // of the PE
  int agents = 0;                         // blocks that send
  where at;                               // of the call of update()
  const region_memory* memory = nullptr;  // for the host
};

namespace region_words {

template <class Dep>
inline constexpr bool is_update = false;
template <class T>
inline constexpr bool is_update<region_update<T>> = true;

}  // namespace region_words

// x.update(): the loop reads the newest epoch and writes the next one. For parallel_for on all PEs by x.partition().
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
    constexpr int updates = (0 + ... + (region_words::is_update<Deps> ? 1 : 0));
    if constexpr (!std::is_same_v<Partitioner, region_partition>)
      use_.check_update(nullptr, where, {}, updates);
    else if constexpr (Shape::rank() == 1)
      use_.check_update(&p, where, s.range(0), updates);
    else
      use_.check_update(&p, where, {}, updates);
  }
  region_writer<T> view_on(int pe) const {
    const region_memory& r = use_.memory();
    return {handle_, r.tiles(pe), r.blocks_in_launch(), access.at, &r};
  }

  stf::data_access access;

 private:
  region_use use_;
  region_handle<T> handle_;
};

namespace region_words {

template <class Arg>
inline constexpr bool is_writer = false;
template <class T>
inline constexpr bool is_writer<region_writer<T>> = true;

template <class T, class... More>
STARLING_HD const region_writer<T>& writer_of(const region_writer<T>& w, const More&...) {
  return w;
}
template <class Arg, class... More>
  requires(!is_writer<Arg>)
STARLING_HD const auto& writer_of(const Arg&, const More&... more) {
  return writer_of(more...);
}

}  // namespace region_words

namespace stf {
namespace detail {

template <class T>
inline constexpr bool is_dependency<region_read<T>> = true;

template <class T>
struct in_loop<region_source<T>> {
  using given = region_view<T>;
  region_view<T> view;
  STARLING_HD explicit in_loop(const region_source<T>& s) : view(s.view()) {}
  STARLING_HD const region_view<T>& argument() const { return view; }
};
template <class T>
struct in_loop<region_writer<T>> {
  using given = region_step<T>;
  const region_step<T>* step = nullptr;  // of the tile
  STARLING_HD explicit in_loop(const region_writer<T>&) {}
  STARLING_HD const region_step<T>& argument() const { return *step; }
};

}  // namespace detail

// The kernel of an update. Tiles are distributed round-robin over the blocks that write, each of which commits a tile
// when it is done. Blocks of the agent are part of the same launch, so that they end with it, whatever ends it, and no
// stream or graph has to start them at the right time. They wait for blocks that write, never the other way round: it
// is enough that some of these run at a time.
template <class Body, class... Args>
struct region_loop {
  static constexpr int max_threads = for_threads;

  Body body;
  pack<Args...> args;
  bool finishes_itself;
  bool agents_first;

  STARLING_HD void operator()(block& b) const { run(b, std::index_sequence_for<Args...>()); }

 private:
  template <std::size_t... I>
  STARLING_HD void run(block& b, std::index_sequence<I...> all) const {
    const auto& w = region_words::writer_of(get<I>(args)...);
    const int writers = b.blocks_per_pe() - w.agents;
    const int which = b.index() - (agents_first ? w.agents : 0);
    if (which >= 0 && which < writers) {
      write(b, w, which, writers, all);
    } else {
      serve(b, w.handle, agents_first ? b.index() : which - writers);
      (leave_none(b, get<I>(args)), ...);
    }
    b.quiet();  // a persistent program tells others that the block is done
    if constexpr (has_accumulators<Args...>) {
      if (!last_to_finish(b, finishes_itself, first_partials(get<I>(args)...))) return;
      (finish(b, get<I>(args), b.blocks_per_pe()), ...);
    }
  }

  template <class T, std::size_t... I>
  STARLING_HD void write(block& b, const region_writer<T>& w, int which, int writers, std::index_sequence<I...>) const {
    const region_handle<T>& h = w.handle;
    const region_state& s = h.state();
    const int pe = b.pe();
    const where at = target::on_gpu ? where::current() : w.at;
    const std::uint64_t epoch = *s.newest.on(pe) + 1;  // the last of these blocks to end changes it
    const region_view<T> old(s, (h.values() + s.buffer_of(epoch - 1) * h.pitch()).on(pe), pe);
    pack<detail::in_loop<Args>...> mine{{{detail::in_loop<Args>(get<I>(args))}...}};
    h.deal_tiles(
        b, epoch, which, writers,
        [&](const tile& t, const tracked<T>& next) {
          const region_step<T> step{old, next, epoch};
          (set_step(get<I>(mine), step), ...);
          h.for_each(b, t, [&](index_t i) { body(i, get<I>(mine).argument()...); });
        },
        at);
    const bool last = region_words::end(b, s, writers, at);
    if (s.credits && last && b.member() == 0)
      for (int to = 0; to < b.n_pes(); ++to)
        if (s.reads(pe, to, pe)) b.thread().signal_set(s.credit + pe, epoch, to);
    (leave_value(b, get<I>(args), get<I>(mine)), ...);
  }

  template <class T>
  STARLING_HD static void serve(block& b, const region_handle<T>& h, int agent) {
    polling_agent<T>{{h.state(), h.values(), h.pitch()}}.serve(b, agent);
  }

  template <class T>
  STARLING_HD static void set_step(detail::in_loop<region_writer<T>>& mine, const region_step<T>& step) {
    mine.step = &step;
  }
  template <class Mine>
  STARLING_HD static void set_step(Mine&, const auto&) {}

  template <class T, class Op>
  STARLING_HD static void leave_value(block& b, const accumulator<T, Op>& a,
                                      const detail::in_loop<accumulator<T, Op>>& mine) {
    stf::leave_value(b, a, mine.value);
  }
  template <class Arg>
  STARLING_HD static void leave_value(block&, const Arg&, const detail::in_loop<Arg>&) {}
  template <class T, class Op>
  STARLING_HD static void leave_none(block& b, const accumulator<T, Op>& a) {
    stf::leave_value(b, a, reducer::identity_of<Op, T>(a.op));
  }
  template <class Arg>
  STARLING_HD static void leave_none(block&, const Arg&) {}
};

// How parallel_for launches an update. A GPU starts blocks in the order of their numbers, and the agent is to run from
// the start; blocks of virtual devices run one after the other, and operations of persistent programs may.
template <class Together, class Part, class Body, class... Args>
  requires(region_words::is_writer<Args> || ...)
void enqueue_for(task_stream<Together>&& s, const launch_plan& plan, const Part&, const Body& body,
                 const Args&... args) {
  if constexpr (detail::check_body<Part, Body, Args...>()) {
    const auto& w = region_words::writer_of(args...);
    const int writers = std::clamp(w.tiles, 1, std::min(plan.blocks, detail::most_blocks - w.agents));
    const int blocks = writers + w.agents;
    const bool agents_first = s.run().on().kind() == machine_kind::cuda && !s.run().noted();
    const region_loop<Body, Args...> loop{body, {{{args}...}}, plan.finishes_itself, agents_first};
    const launch_options options{.threads = plan.threads, .scratch_bytes = plan.scratch_bytes};
    if (const std::shared_ptr<rotation> turn = w.memory->turn(s.pe())) {
      if (s.run().noted()) s.run().refuse_operation("an update of a region whose agent is copy_engine");
      w.memory->launch(s.stream(), blocks, make_kernel(loop), options, s.run().take(turn));
    } else {
      s.launch(blocks, loop, options);
    }
    if constexpr (has_accumulators<Args...>)
      if (!plan.finishes_itself && blocks > 1)
        s.launch(1, finish_kernel<Args...>{{{{args}...}}, blocks}, {.threads = for_threads});
  }
}

}  // namespace stf

namespace region_words {

struct copy_element {
  template <class T>
  STARLING_HD void operator()(index_t i, region_view<T> from, stf::slice<T> to) const {
    to(i) = from(i);
  }
};

}  // namespace region_words

// Functions of the host cannot reach what devices have: they get what PE 0 has by then.
template <class T>
auto region_read<T>::copied_to_host(stf::context& ctx) const {
  use_.check_copy();
  auto copy = ctx.logical_data(stf::shape_of<stf::slice<T>>(handle_.size()));
  ctx.parallel_for(copy.shape(), *this, copy.write()).set_symbol("copy of a region")->*region_words::copy_element();
  return copy.read();
}

template <class T>
stf::box<1> region<T>::shape() const {
  return stf::box<1>(size());
}
template <class T>
region_partition region<T>::partition() const {
  return region_partition(memory_.bounds());
}
template <class T>
region_read<T> region<T>::read(where at) const {
  return {memory_, handle(), at};
}
template <class T>
region_update<T> region<T>::update(where at) const {
  return {memory_, handle(), at};
}

}  // namespace starling
