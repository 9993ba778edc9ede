// Apart from the other tiles, since each takes long to compile.
#include "stencil/tile_program.hpp"

namespace starling::stencil {

template <class T>
kernel resident_band_kernel(const resident_arguments<T>& a) {
  switch (a.grid.bands.rows) {
    case 2:
      return band_kernel<2, false>(a);
    case 4:
      return band_kernel<4, false>(a);
    case 8:
      return band_kernel<8, false>(a);
    case 12:
      return band_kernel<12, false>(a);
    default:
      return band_kernel<16, false>(a);
  }
}

template kernel resident_band_kernel(const resident_arguments<float>&);
template kernel resident_band_kernel(const resident_arguments<double>&);

}  // namespace starling::stencil
