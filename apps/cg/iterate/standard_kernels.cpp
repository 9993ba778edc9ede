#include "cg/iterate/program.hpp"

namespace starling::cg {

template <class T>
kernel standard_kernel(const program_arguments<T>& a) {
  return make_kernel(cg_program<T, method::standard>{a});
}

template kernel standard_kernel(const program_arguments<float>&);
template kernel standard_kernel(const program_arguments<double>&);

}  // namespace starling::cg
