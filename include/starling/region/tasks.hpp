// Regions in tasks of stream, graph and persistent contexts: what x.partition(), x.read() and x.update() are.
//
//   ctx.parallel_for(x.partition(), stf::exec_place::all_devices(), x.shape(), x.update(), A.read())
//       ->*[] STARLING_HD (index_t i, region_step<float> v, ...) { v.next(i) = f(v.old, i); };
//
// or by launch, see region/tasks/launch.hpp, where the threads of a block write a tile together.
//
// To a context a region is one thing without bytes, ordered by reads and writes like logical data, and it never moves:
// a task reads the copy of the device that it runs on. An update writes the next epoch, each PE its part; it is over
// when all PEs have all of it, so that nobody awaits anything. The epoch is a word in each PE's memory, so that
// recorded tasks go on with the next one in each launch. The region must live until tasks that use it are over.
#pragma once

#include "starling/region/tasks/dependencies.hpp"
#include "starling/region/tasks/launch.hpp"
#include "starling/region/tasks/loop.hpp"

namespace starling {

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
