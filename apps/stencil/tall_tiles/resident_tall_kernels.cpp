// Apart from the other tiles, since each takes long to compile.
#include "stencil/core/gpu_kernel.hpp"
#include "stencil/tall_tiles/tall_program.hpp"

namespace starling::stencil {
namespace {

template <class T, bool Products, bool Whole>
struct resident_tall {
  resident_arguments<T> a;
  static constexpr int max_threads = 32 * most_tall_bands;
  static constexpr int least_blocks = 1;  // registers for all its cells
  STARLING_HD void operator()(block& b) const { tall_program<T, tall_register_rows, Products, Whole>(b, a).run(); }
};

// Whether all tiles' rows end with a vector. Tiles of a PE are cut at vectors.
template <class T>
bool whole_vectors(const geometry& g) {
  return g.extent[2] % (g.parts[2] * cell_vector<T>::width) == 0;
}

}  // namespace

template <class T>
kernel resident_tall_kernel(const resident_arguments<T>& a) {
  if (!whole_vectors<T>(a.f.shape)) return make_gpu_kernel(resident_tall<T, false, false>{a});
  return a.uniform_weights ? make_gpu_kernel(resident_tall<T, true, true>{a})
                           : make_gpu_kernel(resident_tall<T, false, true>{a});
}

template kernel resident_tall_kernel(const resident_arguments<float>&);
template kernel resident_tall_kernel(const resident_arguments<double>&);

}  // namespace starling::stencil
