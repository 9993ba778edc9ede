// Apart from the other tiles, since each takes long to compile.
#include "stencil/tile_program.hpp"

namespace starling::stencil {

template <class T>
kernel resident_deep_band_kernel(const resident_arguments<T>& a) {
  switch (a.grid.bands.rows) {
    case 2:
      return band_kernel<2, true>(a);
    case 4:
      return band_kernel<4, true>(a);
    default:
      return band_kernel<8, true>(a);
  }
}

template kernel resident_deep_band_kernel(const resident_arguments<float>&);
template kernel resident_deep_band_kernel(const resident_arguments<double>&);

}  // namespace starling::stencil
