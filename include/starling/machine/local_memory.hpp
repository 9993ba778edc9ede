// local_memory: owns memory of one place, made by machine::allocate_on, or one range of addresses whose pieces lie on
// several PEs, made by machine::allocate_over. Kernels and copies of every PE read and write all of it by its plain
// address. Freed when the owner dies: work that uses it must have ended by then. On GPUs that waits for all work of the
// machine, as cudaFree does; so do not let go of memory while a kernel waits for what the calling thread does next.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace starling {

class backend;

// Memory of the host that kernels and copies of every PE reach.
inline constexpr int host_place = -1;
// Memory that the host and kernels and copies of every PE use, also at the same time, and whose pages move to who uses
// them.
inline constexpr int managed_place = -2;

// So many bytes of the memory of one PE.
struct placed_bytes {
  int pe = 0;
  std::size_t bytes = 0;
};

class local_memory {
 public:
  local_memory() = default;
  // The pieces lie one behind the other, and are known to be what the machine allows.
  local_memory(std::shared_ptr<backend> machine, const std::vector<placed_bytes>& pieces);
  local_memory(local_memory&& other) noexcept { swap(other); }
  local_memory& operator=(local_memory&& other) noexcept {
    local_memory(std::move(other)).swap(*this);
    return *this;
  }
  ~local_memory();

  // Null when there is none.
  std::byte* data() const { return start_; }
  std::size_t size() const { return bytes_; }

 private:
  void swap(local_memory& other) noexcept {
    std::swap(machine_, other.machine_);
    std::swap(start_, other.start_);
    std::swap(bytes_, other.bytes_);
  }

  std::shared_ptr<backend> machine_;
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace starling
