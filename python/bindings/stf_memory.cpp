#include "stf_memory.hpp"

#include <utility>

#include "starling/base/error.hpp"

namespace nb = nanobind;

namespace starling::python {
namespace {

// The library catches it, without the interpreter lock. A user who interrupts is to be heard afterwards.
memory_error as_refusal(nb::python_error& problem) {
  memory_error refusal(
      message(nb::str(problem.type().attr("__name__")).c_str(), ": ", nb::str(problem.value()).c_str()));
  if (problem.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
  return refusal;
}

}  // namespace

bound_resources::bound_resources(const machine& m, int graphs_kept) {
  const nb::gil_scoped_release unlocked;
  resources_.emplace(m, graphs_kept);
}

bound_resources::~bound_resources() {
  const nb::gil_scoped_release unlocked;
  resources_.reset();
}

std::tuple<int, int, std::size_t> bound_resources::idle() const {
  const nb::gil_scoped_release unlocked;
  const stf::resources::idle_resources now = get().idle();
  return {now.contexts, now.graphs, now.bytes};
}

void bound_resources::release() {
  const nb::gil_scoped_release unlocked;
  resources_->release();
}

python_allocator::~python_allocator() {
  if (!nb::is_alive()) {  // Python has ended, and all of its objects
    calls_.release();
    return;
  }
  const nb::gil_scoped_acquire locked;
  calls_.reset();
}

void* python_allocator::allocate(std::size_t bytes, const stf::data_place& where, stream& s) {
  const int device = where.is_host() ? host_place : where.pe();
  const nb::gil_scoped_acquire locked;
  if (!calls_.is_valid()) return nullptr;
  try {
    const nb::object start = calls_.attr("allocate")(bytes, device, reinterpret_cast<std::uintptr_t>(s.native()));
    return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(start));
  } catch (nb::python_error& problem) {
    throw as_refusal(problem);
  }
}

void python_allocator::deallocate(void* start, std::size_t, const stf::data_place&, stream&) noexcept {
  if (!nb::is_alive()) return;
  const nb::gil_scoped_acquire locked;
  if (!calls_.is_valid()) return;
  try {
    calls_.attr("deallocate")(reinterpret_cast<std::uintptr_t>(start));
  } catch (nb::python_error& problem) {
    problem.discard_as_unraisable("starling.stf: an allocator");
  }
}

}  // namespace starling::python
