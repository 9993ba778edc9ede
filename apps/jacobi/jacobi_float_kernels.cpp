// Apart from those of double, since each takes long to compile.
#include "jacobi/solver_state.hpp"

namespace starling::jacobi {

template class solver<float>;

}  // namespace starling::jacobi
