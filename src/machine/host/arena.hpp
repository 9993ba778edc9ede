// The memory of all virtual devices: one range of addresses, a part of equal size for each.
#pragma once

#include <cstddef>

namespace starling {
class file;
}

namespace starling::host {

class arena {
 public:
  // The start is a multiple of it.
  static constexpr std::size_t alignment = std::size_t{16} << 20;

  // For so many bytes of the devices' own memory. Throws memory_error when the addresses are not to be had. Pages cost
  // nothing until they are touched, and are zero. `shared`: the first bytes are those of a memory that other processes
  // have mapped too; null: none are.
  arena(std::size_t bytes, std::size_t own, const file* shared, std::size_t shared_bytes);
  ~arena();
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  std::byte* start() const { return start_; }

 private:
  std::size_t bytes_;
  std::byte* range_;
  std::byte* start_;
};

}  // namespace starling::host
