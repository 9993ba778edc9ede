// Apart from the other tiles, since each takes long to compile.
#include "stencil/tall_program.hpp"

namespace starling::stencil {
namespace {

template <class T, bool Products>
struct resident_tall {
  resident_arguments<T> a;
  static constexpr int max_threads = 32 * most_tall_bands;
  static constexpr int least_blocks = 1;  // registers for all its cells
  STARLING_HD void operator()(block& b) const { tall_program<T, tall_register_rows, Products>(b, a).run(); }
};

}  // namespace

template <class T>
kernel resident_tall_kernel(const resident_arguments<T>& a) {
  return a.alike ? make_kernel(resident_tall<T, true>{a}) : make_kernel(resident_tall<T, false>{a});
}

template kernel resident_tall_kernel(const resident_arguments<float>&);
template kernel resident_tall_kernel(const resident_arguments<double>&);

}  // namespace starling::stencil
