// What a machine says of its devices and of the links between them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace starling {

enum class machine_kind { host, cuda };

constexpr const char* name(machine_kind kind) { return kind == machine_kind::host ? "host" : "cuda"; }

// What one PE has. Of a GPU that PEs share, memory and multiprocessors are this PE's share of it.
struct device_info {
  std::string name;               // "virtual device 0", "NVIDIA H200"
  int id = 0;                     // CUDA ordinal; number of the virtual device
  std::size_t memory_bytes = 0;   // in all
  int multiprocessors = 0;        // 0 on virtual devices
  std::size_t scratch_bytes = 0;  // most that one block may have
  int compute_capability = 0;     // 90 for 9.0; 0 on virtual devices
  int gpu = -1;                   // CUDA ordinal of the GPU that it is on; -1: a virtual device
  int pes_on_gpu = 1;             // PEs of the machine on this GPU
  bool partitioned = false;       // it shares the GPU and has multiprocessors that no other PE can take
};

// "4 virtual devices", "2 GPUs", "4 PEs on 1 GPU".
std::string summary(machine_kind kind, const std::vector<device_info>& devices);

// How symmetric memory stands, the same on every PE, in bytes.
struct memory_info {
  std::size_t capacity = 0;
  std::size_t in_use = 0;
  std::size_t largest_free = 0;  // the largest array that still fits
};

// How PE a reaches the memory of PE b: it is its own, it is of the GPU that both are on, by direct access, or by way of
// a network card.
enum class peer_link { self, same_device, direct, card, none };

}  // namespace starling
