// The calls of NVSHMEM's host library that the engine makes. The library is loaded when they are asked for, so that
// programs start without it; its device library is not used.
#pragma once

#include <cstddef>
#include <string>

namespace starling::nvshmem {

// As NVSHMEM's headers lay them out, from version 3.0 on.
struct unique_id {
  static constexpr int version_1 = (1 << 16) + 128;
  int version = version_1;
  char internal[124] = {};
};
struct unique_id_arguments {
  int version = (1 << 16) + 24;
  unique_id* id = nullptr;
  int rank = -1;
  int ranks = -1;
};
struct init_arguments {
  int version = (1 << 16) + 128;
  unique_id_arguments unique;
  char content[96] = {};
};
struct init_attributes {
  int version = (1 << 16) + 144;
  void* mpi_communicator = nullptr;
  init_arguments arguments;
};
static_assert(sizeof(unique_id) == 128 && sizeof(unique_id_arguments) == 24 && sizeof(init_arguments) == 128 &&
              sizeof(init_attributes) == 144);

inline constexpr unsigned with_unique_id = 1U << 3;  // how to begin
inline constexpr int is_initialized = 2;             // of init_status, or more: it can be used

struct host_library {
  void (*version)(int* major, int* minor, int* patch) = nullptr;
  int (*get_unique_id)(unique_id* id) = nullptr;
  int (*set_unique_id)(int rank, int ranks, const unique_id* id, init_attributes* attributes) = nullptr;
  int (*init)(unsigned flags, init_attributes* attributes) = nullptr;
  int (*init_status)() = nullptr;
  int (*my_pe)() = nullptr;
  int (*n_pes)() = nullptr;
  void* (*malloc)(std::size_t bytes) = nullptr;
  void (*putmem)(void* to, const void* from, std::size_t bytes, int pe) = nullptr;
  void (*quiet)() = nullptr;
};

// `file` as dlopen takes it; stays loaded. Throws unsupported_error for one that is not there, that lacks a call, or of
// another version than 3.
host_library load_host_library(const std::string& file);

}  // namespace starling::nvshmem
