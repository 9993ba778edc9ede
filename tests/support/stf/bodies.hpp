// Bodies of tasks for tests of what contexts refuse: the work is the host's, so that no kernel is needed.
#pragma once

#include "starling/stf/context.hpp"

namespace starling::test {

inline void nothing(stream&, stf::slice<int>) {}
inline void only_read(stream&, stf::slice<const int>) {}
inline void increase(stream& s, stf::slice<int> x) {
  s.call([x] {
    for (index_t i = 0; i < x.extent(0); ++i) x(i) += 1;
  });
}

}  // namespace starling::test
