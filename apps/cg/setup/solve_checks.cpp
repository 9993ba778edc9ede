#include "cg/setup/solve_checks.hpp"

#include <cmath>

#include "cg/iterate/cg_kernels.hpp"
#include "starling/base/error.hpp"

namespace starling::cg {
namespace {

constexpr index_t most_block_size = 32;
constexpr int most_degree = 16;

}  // namespace

void check_matrix_options(const matrix_options& o) {
  expect<argument_error>(
      o.block_size >= 0 && o.block_size <= most_block_size && (o.block_size == 0 || 96 % o.block_size == 0),
      "cg: block_size = ", o.block_size, "; must be 0 for none, or 1, 2, 3, 4, 6, 8, 12, 16, 24, 32");
}

void check_solve_options(const solve_options& o, bool blocks_kept) {
  expect<argument_error>(std::isfinite(o.rtol) && o.rtol >= 0, "cg: rtol = ", o.rtol,
                         "; must be finite and at least 0");
  expect<argument_error>(std::isfinite(o.atol) && o.atol >= 0, "cg: atol = ", o.atol,
                         "; must be finite and at least 0");
  expect<argument_error>(o.max_iterations >= 0, "cg: max_iterations = ", o.max_iterations,
                         "; must be at least 1, or 0 for ten times the rows");
  expect<argument_error>(!o.fixed || o.max_iterations > 0,
                         "cg: fixed with max_iterations = 0; say how many iterations to do");
  expect<argument_error>(o.replace_every >= 0, "cg: replace_every = ", o.replace_every,
                         "; must be at least 1, or 0 to choose");
  expect<argument_error>(o.degree >= 1 && o.degree <= most_degree, "cg: degree = ", o.degree, "; must be 1 to ",
                         most_degree);
  expect<argument_error>(o.blocks >= 0, "cg: blocks = ", o.blocks, "; must be at least 1, or 0 to choose");
  expect<argument_error>(o.threads >= 0 && o.threads <= most_block_threads && o.threads % 32 == 0,
                         "cg: threads = ", o.threads, "; must be a multiple of 32 up to ", most_block_threads,
                         ", or 0 to choose");
  expect<argument_error>(o.keep_bytes >= -1, "cg: keep_bytes = ", o.keep_bytes,
                         "; must be at least 0, or -1 to choose");
  expect<argument_error>(std::isfinite(o.deadline) && o.deadline >= 0, "cg: deadline = ", o.deadline,
                         "; must be finite and at least 0, 0 for the machine's");
  expect<argument_error>(o.m != preconditioner::block_jacobi || blocks_kept,
                         "cg: block_jacobi, but no blocks were kept; give matrix_options::block_size");
}

template <class T>
void check_vector(const char* name, const T* v, index_t n) {
  expect<argument_error>(v != nullptr, "cg: ", name, " is a null pointer; pass an array of ", n, " elements");
  for (index_t i = 0; i < n; ++i)
    expect<argument_error>(std::isfinite(v[i]), "cg: ", name, "[", i, "] is ", v[i], "; all must be finite");
}

template void check_vector(const char*, const float*, index_t);
template void check_vector(const char*, const double*, index_t);

}  // namespace starling::cg
