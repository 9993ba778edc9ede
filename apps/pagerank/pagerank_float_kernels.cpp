// Apart from those of double, since each takes long to compile.
#include "pagerank/solver_state.hpp"

namespace starling::pagerank {

template class solver<float>;

}  // namespace starling::pagerank
