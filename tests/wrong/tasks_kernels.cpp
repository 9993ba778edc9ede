// Tasks: bodies that leave their data, touch what they did not name, or do what their access does not allow.
#include "starling/stf/context.hpp"
#include "wrong/wrong.hpp"

namespace starling::test::tasks_kernels_tests {
namespace {

using stf::context;
using stf::slice;

constexpr index_t n = 32;
const std::vector<defect> unnamed = {defect::undeclared};

template <class F>
void enqueue(stream& s, const F& f) {
  s.launch(1, STARLING_KERNEL(block & b) { b.for_each(n, f); });
}

// Forward difference over all elements.
WRONG_PROGRAM(next_element_of_the_last, found, .kinds = {defect::out_of_bounds},
              .says = {"out of bounds of logical data 'temperature'", "tasks_kernels.cpp:"}, .pes = 1) {
  std::vector<int> x(n, 1);
  std::vector<int> y(n, 0);
  context ctx(m);
  auto a = ctx.logical_data(x);
  auto d = ctx.logical_data(y);
  a.set_symbol("temperature");
  d.set_symbol("slope");
  ctx.parallel_for(stf::box(fixed ? n - 1 : n), a.read(), d.rw())
          ->*STARLING_KERNEL(index_t i, slice<const int> v, slice<int> w) {
    w(i) = v(i + 1) - v(i);
  };
  ctx.finalize();
  return y == std::vector<int>(n, 0);
}

// An offset that leads into other data of the pool.
WRONG_PROGRAM(offset_into_other_data, found, .kinds = {defect::out_of_bounds},
              .says = {"logical data 'first'", "tasks_kernels.cpp:"}, .pes = 1) {
  std::vector<int> x(n, 1);
  std::vector<int> y(n, 2);
  context ctx(m);
  auto a = ctx.logical_data(x);
  auto b = ctx.logical_data(y);
  a.set_symbol("first");
  b.set_symbol("second");
  ctx.parallel_for(b.shape(), b.rw())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) += 1; };
  ctx.parallel_for(a.shape(), a.rw())->*STARLING_KERNEL(index_t i, slice<int> v) {
    if (fixed)
      v(i) += 1;
    else
      v(i + 128) = 7;
  };
  ctx.finalize();
  return x == std::vector<int>(n, 2) && y == std::vector<int>(n, 3);
}

// The element left of the first, without a name.
WRONG_PROGRAM(element_before_the_first, found, .kinds = {defect::out_of_bounds},
              .says = {"logical data", "tasks_kernels.cpp:"}, .pes = 1) {
  std::vector<int> x(n, 1);
  context ctx(m);
  auto a = ctx.logical_data(x);
  auto sums = ctx.logical_data(stf::shape_of<slice<int>>(n));
  ctx.parallel_for(stf::box(index_range{fixed ? 1 : 0, n}), a.read(), sums.write())
          ->*STARLING_KERNEL(index_t i, slice<const int> v, slice<int> s) {
    s(i) = v(i - 1) + v(i);
  };
  ctx.parallel_for(stf::box(index_range{1, n}), sums.read(), a.rw())
          ->*STARLING_KERNEL(index_t i, slice<const int> s, slice<int> v) {
    v(i) = s(i);
  };
  ctx.finalize();
  return x[1] == 2;
}

// The view of an earlier task is kept and written by a later one.
WRONG_PROGRAM(view_kept_for_a_later_task, found, .kinds = unnamed, .says = {"'kept'", "'later'", "tasks_kernels.cpp:"},
              .pes = 1) {
  std::vector<int> x(n, 1);
  std::vector<int> y(n, 1);
  context ctx(m);
  auto a = ctx.logical_data(x);
  auto b = ctx.logical_data(y);
  a.set_symbol("kept");
  slice<int> kept;
  ctx.task(a.rw())->*[&](stream& s, slice<int> v) {
    kept = v;
    enqueue(s, [v](index_t i) { v(i) += 1; });
  };
  if (fixed) {
    ctx.task(b.rw(), a.rw()).set_symbol("later")->*
        [](stream& s, slice<int> w, slice<int> v) { enqueue(s, [v, w](index_t i) { w(i) += v(i)++; }); };
  } else {
    ctx.task(b.rw()).set_symbol("later")->*
        [v = kept](stream& s, slice<int> w) { enqueue(s, [v, w](index_t i) { w(i) += v(i)++; }); };
  }
  ctx.finalize();
  return x[0] == 3 && y[0] == 3;
}

// Another device's instance, by a pointer that a task there has left.
WRONG_PROGRAM(instance_of_another_device, found, .kinds = unnamed, .says = {"'shared'", "tasks_kernels.cpp:"}) {
  std::vector<int> x(n, 1);
  std::vector<int> y(n, 0);
  context ctx(m);
  auto a = ctx.logical_data(x);
  auto b = ctx.logical_data(y);
  a.set_symbol("shared");
  slice<const int> kept;
  ctx.task(stf::exec_place::device(0), a.read())->*[&](stream&, slice<const int> v) { kept = v; };
  ctx.task(stf::exec_place::device(0), a.rw())->*[](stream& s, slice<int> v) {
    enqueue(s, [v](index_t i) { v(i) += 1; });
  };
  if (fixed) {
    ctx.task(stf::exec_place::device(1), a.read(), b.rw())->*[](stream& s, slice<const int> v, slice<int> w) {
      enqueue(s, [v, w](index_t i) { w(i) = v(i); });
    };
  } else {
    ctx.task(stf::exec_place::device(1), b.rw())->*[v = kept](stream& s, slice<int> w) {
      enqueue(s, [v, w](index_t i) { w(i) = v(i); });
    };
  }
  ctx.finalize();
  return y == std::vector<int>(n, 2);
}

// Data that is only read is changed through a cast.
WRONG_PROGRAM(read_only_data_written_by_a_cast, found, .kinds = unnamed, .says = {"'constants'", "tasks_kernels.cpp:"},
              .pes = 1) {
  std::vector<int> x(n, 1);
  std::vector<int> y(n, 0);
  context ctx(m);
  auto a = ctx.logical_data(x);
  auto b = ctx.logical_data(y);
  a.set_symbol("constants");
  const auto body = [fixed](stream& s, slice<const int> v, slice<int> w) {
    enqueue(s, [fixed, v, w](index_t i) {
      if (!fixed) const_cast<int&>(v(i)) = 2;
      w(i) = fixed ? 2 : v(i);
    });
  };
  ctx.task(a.read(), b.rw())->*body;
  ctx.finalize();
  return x == std::vector<int>(n, 1) && y == std::vector<int>(n, 2);
}

// write() gives no value to add to: none has been there.
WRONG_PROGRAM(added_to_what_write_gave, found, .kinds = {defect::uninitialised},
              .says = {"'sums'", "tasks_kernels.cpp:"}, .pes = 1) {
  std::vector<int> y(n, 0);
  context ctx(m);
  auto sums = ctx.logical_data(stf::shape_of<slice<int>>(n));
  auto b = ctx.logical_data(y);
  sums.set_symbol("sums");
  if (fixed) ctx.parallel_for(sums.shape(), sums.write())->*STARLING_KERNEL(index_t i, slice<int> v) {
      v(i) = 0;
    };
  ctx.parallel_for(sums.shape(), fixed ? sums.rw() : sums.write())->*STARLING_KERNEL(index_t i, slice<int> v) {
    v(i) += 3;
  };
  ctx.parallel_for(sums.shape(), sums.read(), b.rw())->*STARLING_KERNEL(index_t i, slice<const int> v, slice<int> w) {
    w(i) = v(i);
  };
  ctx.finalize();
  return y == std::vector<int>(n, 3);
}

// write() does not hand on the value of before, though on one device it may look so.
WRONG_PROGRAM(value_of_before_taken_from_write, missed, .kinds = {defect::uninitialised},
              .says = {"'counts'", "tasks_kernels.cpp:"}, .pes = 1) {
  std::vector<int> x(n, 1);
  context ctx(m);
  auto a = ctx.logical_data(x);
  a.set_symbol("counts");
  ctx.parallel_for(a.shape(), a.rw())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) = 5; };
  ctx.parallel_for(a.shape(), fixed ? a.rw() : a.write())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) += 1; };
  ctx.finalize();
  return x == std::vector<int>(n, 6);
}

// A task says write() and writes the inner elements; the next one reads all.
WRONG_PROGRAM(partly_written, found, .kinds = {defect::uninitialised}, .says = {"'field'", "tasks_kernels.cpp:"},
              .pes = 1) {
  std::vector<int> y(n, 0);
  context ctx(m);
  auto a = ctx.logical_data(stf::shape_of<slice<int>>(n));
  auto b = ctx.logical_data(y);
  a.set_symbol("field");
  ctx.parallel_for(stf::box(index_range{fixed ? 0 : 1, fixed ? n : n - 1}), a.write())
          ->*STARLING_KERNEL(index_t i, slice<int> v) {
    v(i) = 3;
  };
  ctx.parallel_for(b.shape(), a.read(), b.rw())->*STARLING_KERNEL(index_t i, slice<const int> v, slice<int> w) {
    w(i) = v(i);
  };
  ctx.finalize();
  return y == std::vector<int>(n, 3);
}

// The same where the user's memory gets the value: the host reads what no task wrote.
WRONG_PROGRAM(partly_written_back, found, .kinds = {defect::uninitialised}, .says = {"'result'"}) {
  std::vector<int> x(n, 1);
  context ctx(m);
  auto a = ctx.logical_data(x);
  a.set_symbol("result");
  ctx.parallel_for(stf::exec_place::device(1), stf::box(fixed ? n : n / 2), a.write())
          ->*STARLING_KERNEL(index_t i, slice<int> v) {
    v(i) = 3;
  };
  ctx.finalize();
  return x == std::vector<int>(n, 3);
}

// A sum by plain additions into one element, over many coordinates.
WRONG_PROGRAM(sum_without_reduction, found, .kinds = {defect::loop_elements},
              .says = {"tasks_kernels.cpp:", "add up by a reduction"}) {
  std::vector<int> x(1000, 1);
  std::vector<int> y(1, 0);
  context ctx(m);
  auto a = ctx.logical_data(x);
  auto sum = ctx.logical_data(y);
  auto total = ctx.logical_data(stf::scalar_view<int>(y.data()));
  (void)sum;
  if (fixed) {
    ctx.parallel_for(a.shape(), a.read(), total.reduce(stf::reducer::sum()))
            ->*STARLING_KERNEL(index_t i, slice<const int> v, int& s) {
      s += v(i);
    };
  } else {
    ctx.parallel_for(stf::exec_place::all_devices(), a.shape(), a.read(), total.rw())
            ->*STARLING_KERNEL(index_t i, slice<const int> v, stf::scalar_view<int> s) {
      *s += v(i);
    };
  }
  ctx.finalize();
  return y[0] == 1000;
}

// The body launches into a stream of its own.
WRONG_PROGRAM(task_in_a_stream_of_its_own, found,
              .kinds = {defect::unordered_read, defect::unordered_write, defect::uninitialised},
              .says = {"tasks_kernels.cpp:"}, .pes = 1) {
  std::vector<int> x(n, 1);
  stream mine = m.new_stream(0);
  context ctx(m);
  auto a = ctx.logical_data(x);
  ctx.task(a.rw())->*[&](stream& s, slice<int> v) { enqueue(fixed ? s : mine, [v](index_t i) { v(i) += 1; }); };
  ctx.task(a.rw())->*[](stream& s, slice<int> v) { enqueue(s, [v](index_t i) { v(i) *= 2; }); };
  ctx.finalize();
  return x == std::vector<int>(n, 4);
}

// Data is given back to the tasks before the library call that uses it is in the stream.
WRONG_PROGRAM(unfrozen_before_its_use, found, .kinds = races, .says = {"tasks_kernels.cpp:"}, .pes = 1) {
  std::vector<int> x(n, 1);
  stream s = m.new_stream(0);
  context ctx(m);
  auto a = ctx.logical_data(x);
  ctx.task(a.rw())->*[](stream& w, slice<int> v) { enqueue(w, [v](index_t i) { v(i) += 1; }); };
  auto f = ctx.freeze(a.rw(stf::data_place::device(0)));
  const slice<int> v = f.get(s);
  const auto use = [&] { enqueue(s, [v](index_t i) { v(i) += 10; }); };
  if (fixed) use();
  f.unfreeze(s);
  if (!fixed) use();
  ctx.task(a.rw())->*[](stream& w, slice<int> u) { enqueue(w, [u](index_t i) { u(i) *= 2; }); };
  ctx.finalize();
  return x == std::vector<int>(n, 24);
}

// A body of the host goes one element too far.
WRONG_PROGRAM(host_body_beyond_its_data, found, .kinds = {defect::out_of_bounds},
              .says = {"logical data 'log'", "tasks_kernels.cpp:"}, .pes = 1) {
  std::vector<int> y(1, 0);
  context ctx(m);
  auto a = ctx.logical_data(stf::shape_of<slice<int>>(n));
  auto b = ctx.logical_data(y);
  a.set_symbol("log");
  ctx.parallel_for(a.shape(), a.write())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) = 1; };
  ctx.host_launch(a.read(), b.rw())->*[fixed](slice<const int> v, slice<int> w) {
    for (index_t i = 0; i < (fixed ? n : n + 1); ++i) w(0) += v(i);
  };
  ctx.finalize();
  return y[0] == n;
}

// A body of the host reads the view of another task's data.
WRONG_PROGRAM(host_body_reads_unnamed_data, found, .kinds = unnamed, .says = {"'field'", "tasks_kernels.cpp:"},
              .pes = 1) {
  std::vector<int> y(1, 0);
  context ctx(m);
  auto a = ctx.logical_data(stf::shape_of<slice<int>>(n));
  auto b = ctx.logical_data(y);
  a.set_symbol("field");
  slice<int> kept;
  ctx.task(a.write(stf::data_place::host()))->*[&](stream& s, slice<int> v) {
    kept = v;
    enqueue(s, [v](index_t i) { v(i) = 1; });
  };
  if (fixed)
    ctx.host_launch(a.read(), b.rw())->*[](slice<const int> v, slice<int> w) { w(0) = v(n - 1); };
  else
    ctx.host_launch(b.rw())->*[v = kept](slice<int> w) { w(0) = v(n - 1); };
  ctx.finalize();
  return y[0] == 1;
}

// Two rows of halo are read where one was asked for.
WRONG_PROGRAM(halo_wider_than_asked_for, found, .kinds = {defect::out_of_bounds},
              .says = {"logical data", "tasks_kernels.cpp:"}) {
  std::vector<int> x(n, 1);
  std::vector<int> y(n, 0);
  context ctx(m);
  auto a = ctx.logical_data(x);
  auto b = ctx.logical_data(y);
  auto u = ctx.split(a, 2, stf::halo{1});
  auto v = ctx.split(b, 2, stf::halo{1});
  // Part 1 has one row before its own.
  const index_t back = fixed ? 1 : 2;
  ctx.parallel_for(stf::exec_place::device(1), v[1].shape(), u.with_halo(1), v[1].write())
          ->*STARLING_KERNEL(index_t i, slice<const int> from, slice<int> to) {
    to(i) = from(i + 1 - back) + from(i + 1);
  };
  ctx.join(u);
  ctx.join(v);
  ctx.finalize();
  return y[n - 1] == 2;
}

// Scratch memory of a hierarchy's threads, used before it is written.
WRONG_PROGRAM(storage_of_a_hierarchy_unwritten, found, .kinds = {defect::uninitialised},
              .says = {"scratch", "tasks_kernels.cpp:"}, .pes = 1) {
  std::vector<int> y(8, 0);
  context ctx(m);
  auto a = ctx.logical_data(y);
  const auto spec = stf::par(1, stf::con(8, stf::mem(8 * sizeof(int))));
  ctx.launch(spec, stf::exec_place::device(0), a.rw())
          ->*STARLING_KERNEL(stf::thread_hierarchy<std::remove_const_t<decltype(spec)>> th, slice<int> v) {
    const auto group = th.inner();
    const slice<int> shared = group.template storage<int>(0);
    if (fixed) shared(group.rank()) = 0;
    group.sync();
    shared(group.rank()) += 2;
    group.sync();
    v(group.rank()) = shared(7 - group.rank());
  };
  ctx.finalize();
  return y == std::vector<int>(8, 2);
}

}  // namespace
}  // namespace starling::test::tasks_kernels_tests
