#include "globals.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "machine/distributed/local_socket.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::openshmem {
namespace {

constexpr std::size_t most_ranges = 16;

std::uintptr_t down(std::uintptr_t address) { return address / globals::page() * globals::page(); }
std::uintptr_t up(std::uintptr_t address) { return down(address + globals::page() - 1); }

// The loader visits the executable first.
int first_object(dl_phdr_info* object, std::size_t, void* found) {
  auto& ranges = *static_cast<std::vector<globals::range>*>(found);
  // The loader makes the whole pages of this range read-only.
  std::uintptr_t sealed_start = 0;
  std::uintptr_t sealed_end = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = object->dlpi_phdr[i];
    if (part.p_type != PT_GNU_RELRO) continue;
    sealed_start = down(object->dlpi_addr + part.p_vaddr);
    sealed_end = down(object->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
    std::uintptr_t start = down(object->dlpi_addr + part.p_vaddr);
    const std::uintptr_t end = up(object->dlpi_addr + part.p_vaddr + part.p_memsz);
    if (start >= sealed_start && start < sealed_end) start = sealed_end;
    if (start < end) ranges.push_back({reinterpret_cast<std::byte*>(start), end - start, 0});
  }
  return 1;
}

// Into memory that is zero; pages that hold nothing are not touched there.
void copy_pages(std::byte* to, const std::byte* from, std::size_t bytes, std::size_t page) {
  for (std::size_t at = 0; at < bytes; at += page) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(from + at);
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < page / sizeof *words; ++i) any |= words[i];
    if (any != 0) std::memcpy(to + at, from + at, page);
  }
}

// No handler of a signal runs, on this thread, while it lives.
class no_signals {
 public:
  no_signals() {
    sigset_t all;
    sigfillset(&all);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~no_signals() { (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  no_signals(const no_signals&) = delete;
  no_signals& operator=(const no_signals&) = delete;

 private:
  sigset_t before_;
};

[[noreturn]] void fail(std::size_t bytes, int why) {
  throw memory_error(message("the globals of the executable, ", format_bytes(bytes),
                             ", cannot be mapped as symmetric memory (", std::strerror(why),
                             "); make them smaller, or raise the limit of the address space (ulimit -v)"));
}

}  // namespace

std::size_t globals::page() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

globals::globals() {
  (void)dl_iterate_phdr(&first_object, &ranges_);
  expect<unsupported_error>(ranges_.size() <= most_ranges, "the executable has ", ranges_.size(),
                            " writable segments; link it with at most ", most_ranges);
  for (range& r : ranges_) {
    r.at = bytes_;
    bytes_ += r.bytes;
  }
}

// What is changed from here on must not lie in the ranges: in a static executable the state of the C library does. So
// only the stack and the system are used.
void globals::share(const file& memory, std::size_t offset, std::byte* copy) {
  std::array<range, most_ranges> all{};
  const std::size_t n = ranges_.size();
  for (std::size_t i = 0; i < n; ++i) all[i] = ranges_[i];
  const int number = memory.number();
  const std::size_t one = page();
  const no_signals quiet;
  for (std::size_t i = 0; i < n; ++i) {
    const range& r = all[i];
    copy_pages(copy + r.at, r.start, r.bytes, one);
    const void* mapped = ::mmap(r.start, r.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, number,
                                static_cast<off_t>(offset + r.at));
    if (mapped == MAP_FAILED) fail(r.bytes, errno);
  }
}

void globals::take_back() {
  std::array<range, most_ranges> all{};
  const std::size_t n = ranges_.size();
  for (std::size_t i = 0; i < n; ++i) all[i] = ranges_[i];
  const std::size_t one = page();
  const no_signals quiet;
  for (std::size_t i = 0; i < n; ++i) {
    const range& r = all[i];
    void* own = ::mmap(nullptr, r.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED) fail(r.bytes, errno);
    copy_pages(static_cast<std::byte*>(own), r.start, r.bytes, one);
    if (::mremap(own, r.bytes, r.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, r.start) == MAP_FAILED) fail(r.bytes, errno);
  }
}

bool globals::find(const void* address, std::size_t bytes, std::size_t& at) const {
  const auto* wanted = static_cast<const std::byte*>(address);
  for (const range& r : ranges_) {
    if (wanted < r.start || wanted >= r.start + r.bytes) continue;
    const auto offset = static_cast<std::size_t>(wanted - r.start);
    if (bytes > r.bytes - offset) return false;
    at = r.at + offset;
    return true;
  }
  return false;
}

}  // namespace starling::openshmem
