// Apart from the other tiles, since each takes long to compile.
#include "stencil/core/gpu_kernel.hpp"
#include "stencil/spilling_tiles/spilling_program.hpp"

namespace starling::stencil {
namespace {

template <class T, bool Products, bool Whole>
struct resident_spilling {
  resident_arguments<T> a;
  static constexpr int max_threads = 32 * most_spilling_bands;
  static constexpr int least_blocks = 1;  // registers for all its cells
  STARLING_HD void operator()(block& b) const {
    spilling_program<T, spilling_register_rows, Products, Whole>(b, a).run();
  }
};

// Whether all tiles' rows end with a vector. Tiles of a PE are cut at vectors.
template <class T>
bool whole_vectors(const geometry& g) {
  return g.extent[2] % (g.parts[2] * cell_vector<T>::width) == 0;
}

}  // namespace

template <class T>
kernel resident_spilling_kernel(const resident_arguments<T>& a) {
  if (!whole_vectors<T>(a.f.shape)) return make_gpu_kernel(resident_spilling<T, false, false>{a});
  return a.uniform_weights ? make_gpu_kernel(resident_spilling<T, true, true>{a})
                           : make_gpu_kernel(resident_spilling<T, false, true>{a});
}

template kernel resident_spilling_kernel(const resident_arguments<float>&);
template kernel resident_spilling_kernel(const resident_arguments<double>&);

}  // namespace starling::stencil
