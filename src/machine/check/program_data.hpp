// Which memory of the process is constant: data of the program and its libraries that nothing can write.
#pragma once

#include <cstddef>
#include <cstdint>

namespace starling::check {

// Whether all bytes lie in one read-only segment of what is loaded.
bool is_constant(std::uintptr_t address, std::size_t bytes);

}  // namespace starling::check
