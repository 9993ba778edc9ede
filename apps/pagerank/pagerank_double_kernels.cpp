// Apart from those of float, since each takes long to compile.
#include "pagerank/solver_state.hpp"

namespace starling::pagerank {

template class solver<double>;

}  // namespace starling::pagerank
