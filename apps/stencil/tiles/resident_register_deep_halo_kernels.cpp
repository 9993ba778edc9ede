// Apart from the other tiles, since each takes long to compile.
#include "stencil/tiles/tile_program.hpp"

namespace starling::stencil {

template <class T>
kernel resident_register_deep_halo_kernel(const resident_arguments<T>& a) {
  return register_kernel<true>(a);
}

template kernel resident_register_deep_halo_kernel(const resident_arguments<float>&);
template kernel resident_register_deep_halo_kernel(const resident_arguments<double>&);

}  // namespace starling::stencil
