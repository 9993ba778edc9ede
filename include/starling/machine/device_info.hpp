// What a machine says of its devices and of the links between them.
#pragma once

#include <cstddef>
#include <string>

namespace starling {

enum class machine_kind { host, cuda };

constexpr const char* name(machine_kind kind) { return kind == machine_kind::host ? "host" : "cuda"; }

struct device_info {
  std::string name;               // "virtual device 0", "NVIDIA H200"
  int id = 0;                     // CUDA ordinal; number of the virtual device
  std::size_t memory_bytes = 0;   // in all
  int multiprocessors = 0;        // 0 on virtual devices
  std::size_t scratch_bytes = 0;  // most that one block may have
  int compute_capability = 0;     // 90 for 9.0; 0 on virtual devices
};

// How symmetric memory stands, the same on every PE, in bytes.
struct memory_info {
  std::size_t capacity = 0;
  std::size_t in_use = 0;
  std::size_t largest_free = 0;  // the largest array that still fits
};

// How PE a reaches the memory of PE b.
enum class peer_link { self, direct, none };

}  // namespace starling
