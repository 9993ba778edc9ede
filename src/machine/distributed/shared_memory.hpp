// Memory of several processes: a file without a name, mapped by each. It is gone with the last of them.
#pragma once

#include <cstddef>

#include "local_socket.hpp"

namespace starling {

// Pages cost nothing until they are touched, and are zero. Throws memory_error.
file new_shared_memory(std::size_t bytes);

// Maps the start of a file, at `at` over what is mapped there, or where the system wants. Throws memory_error.
std::byte* map_shared(const file& memory, std::size_t bytes, std::byte* at = nullptr);

// Maps it for as long as this object lives.
class mapping {
 public:
  mapping(const file& memory, std::size_t bytes) : start_(map_shared(memory, bytes)), bytes_(bytes) {}
  ~mapping();
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;

  std::byte* start() const { return start_; }

 private:
  std::byte* start_;
  std::size_t bytes_;
};

}  // namespace starling
