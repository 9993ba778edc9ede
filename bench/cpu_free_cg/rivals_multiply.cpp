#include "rivals_support.hpp"

namespace starling::bench {
namespace {

constexpr double one = 1;
constexpr double zero = 0;

}  // namespace

cusparse_multiply::cusparse_multiply(cudaStream_t stream, const gpu_array<std::int32_t>& start,
                                     const gpu_array<std::int32_t>& column, const gpu_array<double>& value,
                                     index_t columns, double* x, double* y, cusparseSpMVAlg_t how)
    : how_(how) {
  const index_t rows = start.size() - 1;
  check(cusparseCreate(&handle_), "cusparseCreate");
  check(cusparseSetStream(handle_, stream), "cusparseSetStream");
  check(cusparseCreateCsr(&a_, rows, columns, value.size(), start.data(), column.data(), value.data(),
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
        "cusparseCreateCsr");
  check(cusparseCreateDnVec(&x_, columns, x, CUDA_R_64F), "cusparseCreateDnVec");
  check(cusparseCreateDnVec(&y_, rows, y, CUDA_R_64F), "cusparseCreateDnVec");
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a_, x_, &zero, y_, CUDA_R_64F, how_,
                                &bytes),
        "cusparseSpMV_bufferSize");
  work_ = gpu_array<unsigned char>(static_cast<index_t>(bytes));
  check(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a_, x_, &zero, y_, CUDA_R_64F, how_,
                                work_.data()),
        "cusparseSpMV_preprocess");
}

cusparse_multiply::~cusparse_multiply() {
  if (a_ != nullptr) cusparseDestroySpMat(a_);
  if (x_ != nullptr) cusparseDestroyDnVec(x_);
  if (y_ != nullptr) cusparseDestroyDnVec(y_);
  if (handle_ != nullptr) cusparseDestroy(handle_);
}

void cusparse_multiply::operator()() {
  check(
      cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a_, x_, &zero, y_, CUDA_R_64F, how_, work_.data()),
      "cusparseSpMV");
}

}  // namespace starling::bench
