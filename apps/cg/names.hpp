// Matrices, how they lie on machines, and products with them are those of apps/sparse: their names are known here too.
#pragma once

#include "sparse/csr.hpp"
#include "sparse/options.hpp"

namespace starling::cg {

using namespace sparse;
using sparse::name;

}  // namespace starling::cg
