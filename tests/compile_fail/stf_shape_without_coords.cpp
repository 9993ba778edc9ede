// expect: constraints not satisfied
#include "starling/stf/detail/for_kernel.hpp"

struct not_a_shape {
  starling::index_t size() const { return 1; }
};
void wrong(starling::stream& s) {
  starling::stf::enqueue_for(s, {}, not_a_shape(), [](starling::index_t) {});
}
