#include "starling/program/accesses.hpp"

#include "machine/check/access_marks.hpp"

namespace starling::generated {
namespace {

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace

access_functions check_accesses() {
  return {[](const void* p, std::size_t n, const void* code) { check::mark_read(address_of(p), n, code); },
          [](const void* p, std::size_t n, const void* code) { check::mark_write(address_of(p), n, code); }};
}

}  // namespace starling::generated
