#include "program_data.hpp"

#include <link.h>

namespace starling::check {
namespace {

struct question {
  std::uintptr_t address;
  std::size_t bytes;
};

int look(dl_phdr_info* loaded, std::size_t, void* data) {
  const auto& q = *static_cast<const question*>(data);
  for (int i = 0; i < loaded->dlpi_phnum; ++i) {
    const auto& segment = loaded->dlpi_phdr[i];
    // Constants with relocations are written once by the loader, and protected after.
    const bool constant =
        (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0) || segment.p_type == PT_GNU_RELRO;
    const std::uintptr_t at = q.address - (loaded->dlpi_addr + segment.p_vaddr);
    if (constant && at < segment.p_memsz && q.bytes <= segment.p_memsz - at) return 1;
  }
  return 0;
}

}  // namespace

bool is_constant(std::uintptr_t address, std::size_t bytes) {
  question q{address, bytes};
  return dl_iterate_phdr(&look, &q) != 0;
}

}  // namespace starling::check
