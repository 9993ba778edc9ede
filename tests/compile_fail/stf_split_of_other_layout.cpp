// expect: arrays in row-major or column-major order
#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;

// In pieces of its own.
struct odd_layout {
  template <class Extents>
  struct mapping : cuda::std::layout_right::mapping<Extents> {
    using layout_type = odd_layout;
    using cuda::std::layout_right::mapping<Extents>::mapping;
  };
};
using odd = cuda::std::mdspan<double, cuda::std::dextents<st::index_t, 2>, odd_layout>;

void wrong(stf::context& ctx, odd x) { (void)ctx.split(ctx.logical_data(x), 2); }
