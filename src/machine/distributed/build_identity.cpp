#include "build_identity.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>

namespace starling {
namespace {

// Whether an object has been loaded around this address.
bool holds(const dl_phdr_info& object, ElfW(Addr) address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = object.dlpi_phdr[i];
    const ElfW(Addr) start = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= start && address - start < part.p_memsz) return true;
  }
  return false;
}

std::string hexadecimal(const unsigned char* bytes, std::size_t n) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

std::string number_in(const unsigned char* notes, std::size_t bytes) {
  const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, notes, sizeof head);
    const std::size_t all = sizeof head + padded(head.n_namesz) + padded(head.n_descsz);
    if (all > bytes) break;
    const unsigned char* name = notes + sizeof head;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
      return hexadecimal(name + padded(head.n_namesz), head.n_descsz);
    notes += all;
    bytes -= all;
  }
  return {};
}

int visit(dl_phdr_info* object, std::size_t, void* found) {
  if (!holds(*object, reinterpret_cast<ElfW(Addr)>(&build_identity))) return 0;
  auto& text = *static_cast<std::string*>(found);
  for (int i = 0; i < object->dlpi_phnum && text.empty(); ++i) {
    const ElfW(Phdr) & part = object->dlpi_phdr[i];
    if (part.p_type == PT_NOTE)
      text = number_in(reinterpret_cast<const unsigned char*>(object->dlpi_addr + part.p_vaddr), part.p_filesz);
  }
  return 1;
}

}  // namespace

std::string build_identity() {
  std::string found;
  (void)dl_iterate_phdr(&visit, &found);
  return found;
}

}  // namespace starling
