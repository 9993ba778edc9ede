// What tasks on whole numbers do in tests.
#pragma once

#include "starling/stf/context.hpp"

namespace starling::test {

inline void add(stream& s, int n, stf::slice<int> x) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { x(i) += n; }); });
}

inline void add_one(stream& s, stf::slice<int> x) { add(s, 1, x); }

// y += x
inline void add_all(stream& s, stf::slice<const int> x, stf::slice<int> y) {
  s.launch(2, STARLING_KERNEL(block & b) { b.for_each(b.my_share(x.extent(0)), [&](index_t i) { y(i) += x(i); }); });
}

}  // namespace starling::test
