// Apart from those of float, since each takes long to compile.
#include "jacobi/solver_state.hpp"

namespace starling::jacobi {

template class solver<double>;

}  // namespace starling::jacobi
