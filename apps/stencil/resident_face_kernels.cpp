// Apart from those for packets, since each takes long to compile.
#include "stencil/tile_program.hpp"

namespace starling::stencil {

template <class T>
kernel resident_face_kernel(const resident_arguments<T>& a) {
  return tile_kernel<true>(a);
}

template kernel resident_face_kernel(const resident_arguments<float>&);
template kernel resident_face_kernel(const resident_arguments<double>&);

}  // namespace starling::stencil
