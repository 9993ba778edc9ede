// How what comes from elsewhere gets into the memory of virtual devices: as kernels that read it meanwhile expect, and
// waking those who wait for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "parking.hpp"
#include "starling/device/network/entry.hpp"

namespace starling::host {

class landing {
 public:
  explicit landing(parking& lot) : lot_(lot) {}

  // Aligned words are seen whole and in their order, if there are at most 64, of 4 or 8 bytes.
  static constexpr std::size_t whole_bytes = 64 * sizeof(std::uint64_t);
  void store(void* to, const void* from, std::size_t bytes) const;
  // For bytes that something else has written there.
  void written(void* to, std::size_t bytes) const;
  // Does the atomic operation that an entry asks for; what the word held.
  std::uint64_t change(void* word, network::opcode what, std::size_t bytes, std::uint64_t operand,
                       std::uint64_t compare) const;
  parking& lot() const { return lot_; }

 private:
  parking& lot_;
};

}  // namespace starling::host
