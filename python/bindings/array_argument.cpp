#include "array_argument.hpp"

#include <nanobind/ndarray.h>

#include <string>

#include "starling/base/error.hpp"

namespace nb = nanobind;

namespace starling::python {
namespace {

struct description {
  void* data = nullptr;
  std::vector<index_t> shape;
  bool contiguous = true;
  std::string element;  // "float32", "int8", ...
  bool read_only = false;
  bool on_gpu = false;
  std::shared_ptr<const void> keep;
};

std::string list(const std::vector<index_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + message(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

// Strides in units of elements; extents of 1 may have any.
bool is_contiguous(const std::vector<index_t>& shape, const std::vector<index_t>& strides) {
  index_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

std::string element_name(nb::dlpack::dtype t) {
  using code = nb::dlpack::dtype_code;
  const auto is = [&t](code c) { return t.code == static_cast<std::uint8_t>(c); };
  const char* family = is(code::Float)     ? "float"
                       : is(code::Int)     ? "int"
                       : is(code::UInt)    ? "uint"
                       : is(code::Bool)    ? "bool"
                       : is(code::Complex) ? "complex"
                       : is(code::Bfloat)  ? "bfloat"
                                           : "other";
  return t.lanes == 1 ? message(family, static_cast<int>(t.bits)) : "vector";
}

// "<f4" -> "float32"; other byte orders keep the text.
std::string element_name(const std::string& typestr) {
  if (typestr == "<f4" || typestr == "=f4") return "float32";
  if (typestr == "<f8" || typestr == "=f8") return "float64";
  return typestr;
}

// The dictionary that numba, CuPy and others call __cuda_array_interface__ (version 3).
description from_cuda_interface(nb::handle object) {
  const nb::dict d = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  description a;
  a.on_gpu = true;
  a.keep = std::make_shared<nb::object>(nb::borrow(object));
  const nb::tuple data = nb::cast<nb::tuple>(d["data"]);
  a.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
  a.read_only = nb::cast<bool>(data[1]);
  for (nb::handle n : nb::cast<nb::tuple>(d["shape"])) a.shape.push_back(nb::cast<index_t>(n));
  const std::string type = nb::cast<nb::str>(d["typestr"]).c_str();
  a.element = element_name(type);
  if (d.contains("strides") && !d["strides"].is_none()) {
    const auto bytes = static_cast<index_t>(type.ends_with("f8") ? sizeof(double) : sizeof(float));
    std::vector<index_t> strides;
    for (nb::handle s : nb::cast<nb::tuple>(d["strides"])) {
      const auto stride = nb::cast<index_t>(s);
      strides.push_back(stride % bytes == 0 ? stride / bytes : 0);
    }
    a.contiguous = strides.size() == a.shape.size() && is_contiguous(a.shape, strides);
  }
  return a;
}

description from_ndarray(nb::handle object, bool writable, const char* name) {
  nb::ndarray<nb::ro> readable;
  nb::ndarray<> written;
  const bool found = writable ? nb::try_cast(object, written, false) : nb::try_cast(object, readable, false);
  expect<type_error>(found || (writable && nb::try_cast(object, readable, false)), "stencil: ", name, " is a ",
                     nb::type_name(object.type()).c_str(),
                     ", which gives no access to its elements; pass an array of NumPy, CuPy or PyTorch");
  expect<argument_error>(found, "stencil: ", name, " is read-only; pass an array that can be written");
  const auto describe = [&](const auto& array) {
    description a;
    a.data = const_cast<void*>(static_cast<const void*>(array.data()));
    a.keep = std::make_shared<std::decay_t<decltype(array)>>(array);
    a.element = element_name(array.dtype());
    a.on_gpu = array.device_type() != nb::device::cpu::value && array.device_type() != nb::device::cuda_host::value;
    expect<unsupported_error>(!a.on_gpu || array.device_type() == nb::device::cuda::value ||
                                  array.device_type() == nb::device::cuda_managed::value,
                              "stencil: ", name, " is on a device of DLPack type ", array.device_type(),
                              "; copy it to the host first");
    std::vector<index_t> strides;
    for (std::size_t i = 0; i < array.ndim(); ++i) {
      a.shape.push_back(array.shape(i));
      strides.push_back(array.stride(i));
    }
    a.contiguous = is_contiguous(a.shape, strides);
    return a;
  };
  return writable ? describe(written) : describe(readable);
}

}  // namespace

array_argument array_of(nb::handle object, const array_wish& wish, const char* name) {
  const bool cuda_only = nb::hasattr(object, "__cuda_array_interface__") && !nb::hasattr(object, "__dlpack__");
  const description a = cuda_only ? from_cuda_interface(object) : from_ndarray(object, wish.writable, name);
  const std::string wanted = message("float", 8 * wish.element_bytes);
  expect<type_error>(a.element == wanted, "stencil: ", name, " holds ", a.element, ", the solver ", wanted,
                     "; convert it with .astype(\"", wanted, "\")");
  expect<argument_error>(a.shape == wish.shape, "stencil: ", name, " has the shape ", list(a.shape), ", the solver ",
                         list(wish.shape), "; they must be equal");
  expect<argument_error>(a.contiguous, "stencil: ", name, " is not C-contiguous; pass numpy.ascontiguousarray(", name,
                         ")");
  expect<argument_error>(!wish.writable || !a.read_only, "stencil: ", name,
                         " is read-only; pass an array that can be written");
  expect<argument_error>(
      !a.on_gpu || wish.gpu_allowed, "stencil: ", name,
      " is on a GPU, the machine has virtual devices only; copy it to the host, or use machine.cuda()");
  return {a.data, a.keep};
}

}  // namespace starling::python
