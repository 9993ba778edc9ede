// What a generated program needs to show check mode its loads and stores: the access functions of the module that has
// loaded it. They are not visible otherwise.
#pragma once

#include <cstddef>

namespace starling::generated {

struct access_functions {
  // `code`: where the access stands.
  void (*read)(const void* address, std::size_t bytes, const void* code) = nullptr;
  void (*write)(const void* address, std::size_t bytes, const void* code) = nullptr;
};

// Those of this library.
access_functions check_accesses();

}  // namespace starling::generated
