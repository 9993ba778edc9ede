#include "cg/iterate/program.hpp"

namespace starling::cg {

template <class T>
kernel fused_kernel(const program_arguments<T>& a) {
  return make_kernel(cg_program<T, method::fused>{a});
}

template kernel fused_kernel(const program_arguments<float>&);
template kernel fused_kernel(const program_arguments<double>&);

}  // namespace starling::cg
