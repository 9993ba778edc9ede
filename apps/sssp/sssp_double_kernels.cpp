// Apart from those of float, since each takes long to compile.
#include "sssp/solver_state.hpp"

namespace starling::sssp {

template class solver<double>;

}  // namespace starling::sssp
