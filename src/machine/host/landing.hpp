// How what comes from elsewhere gets into the memory of virtual devices: as kernels that read it meanwhile expect, and
// waking those who wait for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../near_memory.hpp"
#include "parking.hpp"

namespace starling::host {

class landing final : public near_memory {
 public:
  explicit landing(parking& lot) : lot_(lot) {}

  void store(void* to, const void* from, std::size_t bytes) override;
  void load(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  bool engine_reaches() const override { return true; }
  void written(void* to, std::size_t bytes) override;
  std::uint64_t change(void* word, word_change what, std::size_t bytes, std::uint64_t operand,
                       std::uint64_t compare) override;
  void settle() override {}
  void wake_all() override { lot_.wake_all(); }
  parking& lot() const { return lot_; }

 private:
  parking& lot_;
};

}  // namespace starling::host
