// Arrays of any library as arguments: through DLPack, the buffer protocol or __cuda_array_interface__.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "starling/base/index.hpp"

namespace starling::python {

// An array that a call reads or writes.
struct array_argument {
  void* data = nullptr;
  std::shared_ptr<const void> keep;  // while it lives, so does the memory
};

// What a solver asks of an array.
struct array_wish {
  std::vector<index_t> shape;
  int element_bytes = 4;  // of a floating point number
  bool writable = false;
  bool gpu_allowed = false;  // the machine can copy from and to GPUs
};

// Throws type_error when `object` is no array or of another element type, argument_error when it has another shape, is
// not C-contiguous, read-only though it is to be written, or on a GPU that the machine cannot reach.
array_argument array_of(nanobind::handle object, const array_wish& wish, const char* name);

}  // namespace starling::python
