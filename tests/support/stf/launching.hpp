// Launches of a hierarchy in tests, with the scratch memory that it needs.
#pragma once

#include <doctest/doctest.h>

#include "starling/stf/detail/launch_kernel.hpp"
#include "support/memory.hpp"

namespace starling::test {
namespace {  // types of its own for each source: some are compiled for virtual devices only

// A functor with one signature, as nvcc's lambdas have, of a body that is a template.
template <class Spec, class Body>
struct for_spec {
  Body body;
  template <class... Args>
  STARLING_HD void operator()(stf::thread_hierarchy<Spec> th, Args... args) const {
    body(th, args...);
  }
};
template <class Spec, class Body>
for_spec<Spec, Body> body_of(const Spec&, const Body& b) {
  return {b};
}

// An argument that each place has its own of.
template <class F>
struct of_place {
  F f;
};
template <class F>
of_place(F) -> of_place<F>;

template <class Arg>
Arg at_place(const Arg& a, int) {
  return a;
}
template <class F>
auto at_place(const of_place<F>& a, int place) {
  return a.f(place);
}

template <class Spec, class Body, class... Args>
void launch_at(machine& m, const Spec& spec, int place, int places, const Body& body, const Args&... args) {
  stf::hierarchy_map map = stf::plan_launch(m, spec, place, places, body, args...);
  symmetric_array<std::byte> scratch;
  if (map.device_scratch_bytes > 0) {
    scratch = poisoned<std::byte>(m, static_cast<index_t>(map.device_scratch_bytes));
    map.device_scratch = scratch.on(place);
  }
  stream s = m.new_stream(place);
  stf::enqueue_launch(s, map, spec, body, args...);
  s.synchronize();
}

// On one place after another.
template <class Spec, class Body, class... Args>
void launch_all(machine& m, const Spec& spec, int places, const Body& body, const Args&... args) {
  for (int place = 0; place < places; ++place) launch_at(m, spec, place, places, body, at_place(args, place)...);
}

}  // namespace
}  // namespace starling::test
