// Apart from those of double, since each takes long to compile.
#include "sssp/solver_state.hpp"

namespace starling::sssp {

template class solver<float>;

}  // namespace starling::sssp
