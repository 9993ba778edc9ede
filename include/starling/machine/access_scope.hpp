// access_scope: what a library that does work for its users tells check mode: whose some memory is, and which of it a
// piece of work may touch. Check mode finds accesses to other memory that has a name, and its messages have the names.
// Outside of check mode all of this does nothing and costs a call.
//
//   const named_memory x(m, start, bytes, "logical data 'x'");
//   const auto scope = declare_accesses(m, "task 'scale'", {"main.cpp", 12}, {{start, bytes, true, "logical data
//   'x'"}}); const scoped_stream here(s, scope); s.launch(...);                        // may touch x, memory without a
//   name, and nothing else
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling {

// While it lives, these bytes of the machine's memory have this name. Of names of the same byte the newest counts.
class named_memory {
 public:
  named_memory() = default;
  named_memory(const machine& m, const std::byte* start, std::size_t bytes, std::string name);
  named_memory(named_memory&& other) noexcept { swap(other); }
  named_memory& operator=(named_memory&& other) noexcept {
    named_memory(std::move(other)).swap(*this);
    return *this;
  }
  ~named_memory();

 private:
  void swap(named_memory& other) noexcept {
    std::swap(machine_, other.machine_);
    std::swap(number_, other.number_);
  }

  std::shared_ptr<backend> machine_;
  std::uint64_t number_ = 0;
};

// Bytes that work may read, and write if `write`.
struct declared_range {
  const std::byte* start = nullptr;
  std::size_t bytes = 0;
  bool write = false;
  std::string name;
};

class access_scope;

// Work of `who`, which says so `at` a source line (line 0: not known), may touch these ranges and memory without a
// name, as names are now. Null outside of check mode.
std::shared_ptr<const access_scope> declare_accesses(const machine& m, std::string who, where at,
                                                     std::vector<declared_range> ranges);

// While it lives, what the calling thread gives the stream is work of this scope; null: of none. The newest of a thread
// counts.
class scoped_stream {
 public:
  scoped_stream(const stream& s, std::shared_ptr<const access_scope> scope);
  scoped_stream(scoped_stream&& other) noexcept
      : stream_(std::exchange(other.stream_, std::nullopt)), scope_(std::move(other.scope_)) {}
  scoped_stream& operator=(scoped_stream&&) = delete;
  ~scoped_stream();

 private:
  std::optional<stream> stream_;
  std::shared_ptr<const access_scope> scope_;
};

// While it lives, what the block that runs on this thread does is work of this scope. Virtual devices only.
class scoped_block {
 public:
  explicit scoped_block(const access_scope* scope);
  scoped_block(const scoped_block&) = delete;
  scoped_block& operator=(const scoped_block&) = delete;
  ~scoped_block();

 private:
  const access_scope* outer_;
};

}  // namespace starling
