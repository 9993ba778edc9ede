// The scratch memory of one block on a virtual device: what it has taken so far, alive until the kernel returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "starling/device/host_port.hpp"

namespace starling {

class scratch_memory {
 public:
  // Bytes that hold `fill` each.
  std::byte* take(std::size_t bytes, unsigned char fill) {
    pieces_.push_back({std::make_unique_for_overwrite<std::byte[]>(bytes), bytes});
    used_ += scratch_taken(bytes);
    std::memset(pieces_.back().start.get(), fill, bytes);
    return pieces_.back().start.get();
  }
  // Of what the launch asked for.
  std::size_t used() const { return used_; }

  struct place {
    std::size_t offset;  // from the start of the piece
    bool inside;         // the whole range lies in that piece
  };
  // Where a range lies that begins in one of the pieces.
  std::optional<place> find(const void* address, std::size_t bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (const piece& p : pieces_) {
      const std::uintptr_t offset = at - reinterpret_cast<std::uintptr_t>(p.start.get());
      if (offset < p.bytes) return place{offset, bytes <= p.bytes - offset};
    }
    return std::nullopt;
  }

 private:
  struct piece {
    std::unique_ptr<std::byte[]> start;
    std::size_t bytes;
  };
  std::vector<piece> pieces_;
  std::size_t used_ = 0;
};

}  // namespace starling
