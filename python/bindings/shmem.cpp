// Symmetric memory for Python. starling/shmem.py says what each call means, and makes arrays of the addresses.
#include "starling/shmem/world.hpp"

#include "bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace starling::python {
namespace {

// Bytes on every PE, with a world to reach them by. Views of Python hold on to it.
class bound_memory {
 public:
  bound_memory(const machine& m, index_t bytes) : world_(m), bytes_(world_.calloc<std::byte>(bytes)) {}

  std::uintptr_t address(int pe) const { return reinterpret_cast<std::uintptr_t>(bytes_.on(pe)); }

  // Pieces of the same size, whose starts are so many bytes apart on either side; the first begins at `offset`.
  void put(int pe, index_t offset, index_t pitch, std::uintptr_t from, index_t from_pitch, index_t piece,
           index_t pieces) {
    const nb::gil_scoped_release unlocked;
    const auto* source = reinterpret_cast<const std::byte*>(from);
    if (pieces == 1)
      world_.on(pe).put(bytes_.data() + offset, source, piece);
    else
      world_.on(pe).ibput(bytes_.data() + offset, source, pitch, from_pitch, piece, pieces);
  }
  void get(int pe, index_t offset, index_t pitch, std::uintptr_t to, index_t to_pitch, index_t piece, index_t pieces) {
    const nb::gil_scoped_release unlocked;
    auto* dest = reinterpret_cast<std::byte*>(to);
    if (pieces == 1)
      world_.on(pe).get(dest, bytes_.data() + offset, piece);
    else
      world_.on(pe).ibget(dest, bytes_.data() + offset, to_pitch, pitch, piece, pieces);
  }

 private:
  shmem::world world_;
  symmetric_array<std::byte> bytes_;
};

}  // namespace

void bind_shmem(nb::module_& m) {
  nb::class_<bound_memory>(m, "SymmetricMemory", "starling.shmem.SymmetricArray without arrays; addresses are numbers.")
      .def(
          "__init__",
          [](bound_memory* self, bound_machine& on, index_t bytes) {
            const nb::gil_scoped_release unlocked;
            new (self) bound_memory(on.get(), bytes);
          },
          "machine"_a, "bytes"_a)
      .def("address", &bound_memory::address, "pe"_a)
      .def("put", &bound_memory::put, "pe"_a, "offset"_a, "pitch"_a, "source"_a, "source_pitch"_a, "piece"_a,
           "pieces"_a)
      .def("get", &bound_memory::get, "pe"_a, "offset"_a, "pitch"_a, "dest"_a, "dest_pitch"_a, "piece"_a, "pieces"_a);
}

}  // namespace starling::python
