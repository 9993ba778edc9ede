// The memory of all virtual devices: one range of addresses, a part of equal size for each.
#pragma once

#include <cstddef>

namespace starling::host {

class arena {
 public:
  // For so many bytes of the devices' own memory. Throws memory_error when the addresses are not to be had. Pages cost
  // nothing until they are touched.
  arena(std::size_t bytes, std::size_t own);
  ~arena();
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  std::byte* start() const { return start_; }

 private:
  std::size_t bytes_;
  std::byte* start_;
};

}  // namespace starling::host
