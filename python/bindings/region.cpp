// host_region for Python. starling/region.py says what each call means, and makes arrays of the addresses.
#include "starling/region/host_region.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

// Views of Python hold on to it; its end may wait for streams, which then do not need the interpreter.
class bound_region {
 public:
  bound_region(machine m, index_t n, std::size_t element_bytes, const host_region_options& options)
      : region_(std::make_unique<host_region>(m, n, element_bytes, options)) {}
  ~bound_region() {
    const nb::gil_scoped_release unlocked;
    region_.reset();
  }
  bound_region(const bound_region&) = delete;
  bound_region& operator=(const bound_region&) = delete;

  host_region& get() const { return *region_; }

 private:
  std::unique_ptr<host_region> region_;
};

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace

void bind_region(nb::module_& m) {
  nb::class_<bound_region> c(m, "HostRegion", "starling.region.Region without arrays; addresses are numbers.");
  c.def(
       "__init__",
       [](bound_region* self, bound_machine& on, index_t n, std::size_t element_bytes, int buffers,
          std::size_t chunk_bytes, const std::vector<index_t>& bounds, double deadline) {
         const nb::gil_scoped_release unlocked;
         new (self)
             bound_region(on.get(), n, element_bytes,
                          {.buffers = buffers, .chunk_bytes = chunk_bytes, .bounds = bounds, .deadline = deadline});
       },
       "machine"_a, "n"_a, "element_bytes"_a, nb::kw_only(), "buffers"_a, "chunk_bytes"_a, "bounds"_a, "deadline"_a)
      .def_prop_ro("chunks", [](const bound_region& r) { return r.get().chunks(); })
      .def_prop_ro("epoch", [](const bound_region& r) { return r.get().epoch(); })
      .def(
          "committed", [](const bound_region& r, int pe) { return r.get().committed(pe); }, "pe"_a)
      .def(
          "part",
          [](const bound_region& r, int pe) {
            const index_range part = r.get().part(pe);
            return std::pair(part.begin, part.end);
          },
          "pe"_a)
      .def(
          "stream",
          [](const bound_region& r, int pe) { return reinterpret_cast<std::uintptr_t>(r.get().work(pe).native()); },
          "pe"_a)
      .def(
          "address",
          [](const bound_region& r, int pe, std::uint64_t epoch) {
            return reinterpret_cast<std::uintptr_t>(r.get().data(pe, epoch));
          },
          "pe"_a, "epoch"_a)
      .def(
          "load",
          [](const bound_region& r, std::uintptr_t values) {
            const nb::gil_scoped_release unlocked;
            r.get().load(at<const std::byte>(values));
          },
          "values"_a)
      .def(
          "read",
          [](const bound_region& r, int pe, std::uint64_t epoch, std::uintptr_t values) {
            const nb::gil_scoped_release unlocked;
            r.get().read(pe, epoch, at<std::byte>(values));
          },
          "pe"_a, "epoch"_a, "values"_a)
      .def(
          "commit",
          [](const bound_region& r, int pe, index_t begin, index_t end, std::uintptr_t stream) {
            const nb::gil_scoped_release unlocked;
            r.get().commit(pe, {begin, end}, at<void>(stream));
          },
          "pe"_a, "begin"_a, "end"_a, "stream"_a)
      .def(
          "wait",
          [](const bound_region& r, int pe, std::uint64_t epoch, std::uintptr_t stream) {
            const nb::gil_scoped_release unlocked;
            r.get().wait(pe, epoch, at<void>(stream));
          },
          "pe"_a, "epoch"_a, "stream"_a)
      .def(
          "wait_on_host",
          [](const bound_region& r, int pe, std::uint64_t epoch) {
            const nb::gil_scoped_release unlocked;
            r.get().wait_on_host(pe, epoch);
          },
          "pe"_a, "epoch"_a)
      .def("bytes_sent", [](const bound_region& r) { return r.get().bytes_sent(); });
}

}  // namespace starling::python
