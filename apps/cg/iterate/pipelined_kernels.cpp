#include "cg/iterate/program.hpp"

namespace starling::cg {

template <class T>
kernel pipelined_kernel(const program_arguments<T>& a) {
  return make_kernel(cg_program<T, method::pipelined>{a});
}

template kernel pipelined_kernel(const program_arguments<float>&);
template kernel pipelined_kernel(const program_arguments<double>&);

}  // namespace starling::cg
