// Has the calls of NVSHMEM's host library that the engine makes, over memory that processes of one host share, for
// tests where there is no NVSHMEM or no GPU. What is put comes when its sender is quiet, in any order, but for words,
// which come at once: so it shows who relies on more than NVSHMEM promises. A process that dies while they begin
// lets the others wait.
//
// STARLING_NVSHMEM_DOUBLE makes it fail: version, unique_id, init, no_gpu, number, or gpu_memory.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "machine/nvshmem/host_library.hpp"

namespace {

using namespace starling::nvshmem;

// At the beginning of what they share; the heaps follow.
struct alignas(4096) meeting {
  std::atomic<int> come;
};

struct held_put {
  std::byte* to;
  std::vector<std::byte> bytes;
};

// NVSHMEM of this process.
struct heap {
  int rank = -1;
  int ranks = 0;
  std::size_t bytes = 0;
  std::size_t used = 0;
  std::byte* start = nullptr;
  std::vector<held_put> held;
  std::minstd_rand order;
};

heap& own() {
  static heap h;
  return h;
}

bool fails(const char* what) {
  const char* wanted = std::getenv("STARLING_NVSHMEM_DOUBLE");
  return wanted != nullptr && std::strcmp(wanted, what) == 0;
}

std::size_t heap_bytes() {
  const char* text = std::getenv("NVSHMEM_SYMMETRIC_SIZE");
  const std::size_t wanted = text != nullptr ? std::strtoull(text, nullptr, 10) : std::size_t{64} << 20;
  return (wanted + 4095) / 4096 * 4096;
}

std::byte* heap_of(int pe) { return own().start + static_cast<std::size_t>(pe) * own().bytes; }

// The last one to come takes the name away.
bool share(const std::string& name) {
  heap& h = own();
  h.bytes = heap_bytes();
  const std::size_t all = sizeof(meeting) + h.bytes * static_cast<std::size_t>(h.ranks);
  const int file = ::shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(all)) != 0) return false;
  void* memory = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  (void)::close(file);
  if (memory == MAP_FAILED) return false;
  auto* const all_here = static_cast<meeting*>(memory);
  h.start = static_cast<std::byte*>(memory) + sizeof(meeting);
  if (all_here->come.fetch_add(1) + 1 == h.ranks) (void)::shm_unlink(name.c_str());
  while (all_here->come.load() < h.ranks) (void)::sched_yield();
  return true;
}

}  // namespace

#define NVSHMEM_CALL extern "C" __attribute__((visibility("default")))

NVSHMEM_CALL void nvshmemx_vendor_get_version_info(int* major, int* minor, int* patch) {
  *major = fails("version") ? 2 : 3;
  *minor = 4;
  *patch = 5;
}

NVSHMEM_CALL int nvshmemx_get_uniqueid(unique_id* id) {
  if (fails("unique_id")) return 7;
  const std::string name =
      "/starling-nvshmem-" + std::to_string(::getpid()) + "-" + std::to_string(std::random_device{}());
  std::strncpy(id->internal, name.c_str(), sizeof id->internal - 1);
  return id->version == unique_id::version_1 ? 0 : 1;
}

NVSHMEM_CALL int nvshmemx_set_attr_uniqueid_args(int rank, int ranks, const unique_id* id,
                                                 init_attributes* attributes) {
  attributes->arguments.unique.rank = rank;
  attributes->arguments.unique.ranks = ranks;
  attributes->arguments.unique.id = const_cast<unique_id*>(id);
  return 0;
}

NVSHMEM_CALL int nvshmemx_hostlib_init_attr(unsigned flags, init_attributes* attributes) {
  if (fails("init") || flags != with_unique_id || own().start != nullptr) return 7;
  if (attributes->version != init_attributes().version) return 1;
  own().rank = attributes->arguments.unique.rank;
  own().ranks = attributes->arguments.unique.ranks;
  own().order.seed(static_cast<unsigned>(own().rank) + 1);
  return share(attributes->arguments.unique.id->internal) ? 0 : 2;
}

NVSHMEM_CALL int nvshmemx_init_status() { return own().start == nullptr ? 0 : fails("no_gpu") ? 1 : is_initialized; }
NVSHMEM_CALL int nvshmem_my_pe() { return own().rank + (fails("number") ? 1 : 0); }
NVSHMEM_CALL int nvshmem_n_pes() { return own().ranks; }

NVSHMEM_CALL void* nvshmem_malloc(std::size_t bytes) {
  heap& h = own();
  bytes = (bytes + 511) / 512 * 512;
  if (bytes > h.bytes - h.used) return nullptr;
  if (fails("gpu_memory")) return ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::byte* const memory = heap_of(h.rank) + h.used;
  std::memset(memory, 0xaa, bytes);
  h.used += bytes;
  return memory;
}

NVSHMEM_CALL void nvshmem_putmem(void* to, const void* from, std::size_t bytes, int pe) {
  std::byte* const there = heap_of(pe) + (static_cast<std::byte*>(to) - heap_of(own().rank));
  const auto* const data = static_cast<const std::byte*>(from);
  if (bytes != sizeof(std::uint64_t)) return own().held.push_back({there, {data, data + bytes}});
  std::uint64_t word = 0;
  std::memcpy(&word, data, sizeof word);
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(there)).store(word, std::memory_order_release);
}

NVSHMEM_CALL void nvshmem_quiet() {
  std::vector<held_put>& held = own().held;
  std::shuffle(held.begin(), held.end(), own().order);
  for (const held_put& p : held) std::memcpy(p.to, p.bytes.data(), p.bytes.size());
  held.clear();
}
