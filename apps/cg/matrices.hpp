// Generators of symmetric positive definite matrices, one for each class of table 3.1 of "GPU-Centric Communication
// Schemes": regular grids, circuits, finite elements with three unknowns per node, and very uneven rows. The same
// arguments give the same matrix on every machine, from any number of threads. Rows are sorted by column and hold no
// zeros, except in the blocks of elasticity. Exactly symmetric.
//
// All throw argument_error for sizes that are not positive or whose rows do not fit into 32-bit columns.
#pragma once

#include "cg/names.hpp"

namespace starling::cg {

// -Laplace on nx x ny points, 5 per row, zero outside: 4 on the diagonal. (ecology2: 1000 x 1000.)
template <class T>
csr<T> grid_2d(index_t nx, index_t ny);

// 27 points per row on nx x ny x nz points: 26 on the diagonal, -1 for every neighbour of the cube.
template <class T>
csr<T> grid_3d(index_t nx, index_t ny, index_t nz);

// Linear elasticity on nx x ny x nz nodes of a brick, trilinear hexahedra of unit size, Young's modulus 1, Poisson's
// ratio 0.3, the face x = 0 held by stiff springs: 3 unknowns per node, 81 entries per row inside. (Queen_4147: 110^3.)
// Nodes that share an element are joined by a full block of 3 x 3, which may hold zeros. At least 2 nodes each way.
template <class T>
csr<T> elasticity_3d(index_t nx, index_t ny, index_t nz);

// A power grid or circuit: a random planar-like mesh of n nodes with conductances over four decades, 3 to 8 entries per
// row, plus `nets` nodes that are joined to many (G3_circuit has rows of about 5 entries; nets stand for supply lines).
// n + nets rows, the nets last; 0 to n nets.
template <class T>
csr<T> circuit(index_t n, index_t nets, std::uint64_t seed);

// The Laplacian plus the identity of a graph of n nodes whose degrees follow a power law: most rows have a few entries,
// some thousands. Degree 1 to n - 1.
template <class T>
csr<T> uneven(index_t n, index_t mean_degree, std::uint64_t seed);

}  // namespace starling::cg
