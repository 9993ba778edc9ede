// Where contexts of Python take streams, memory and graphs from: resources that they share, and allocators in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <tuple>

#include "starling/stf/allocator.hpp"
#include "starling/stf/resources.hpp"

namespace starling::python {

// Goes, and calls the library, without the interpreter lock.
class bound_resources {
 public:
  bound_resources(const machine& m, int graphs_kept);
  bound_resources(const bound_resources&) = delete;
  bound_resources& operator=(const bound_resources&) = delete;
  ~bound_resources();

  const stf::resources& get() const { return *resources_; }
  // Contexts, graphs and bytes of memory that nobody has.
  std::tuple<int, int, std::size_t> idle() const;
  void release();

 private:
  std::optional<stf::resources> resources_;
};

// An allocator in Python: an object with allocate(bytes, device, stream), which gives an address, or 0 when there is no
// more, and deallocate(address). Device -1 is the host. The library calls it with locks of its own held, so its methods
// must not let anything of Starling's die.
class python_allocator : public stf::allocator {
 public:
  explicit python_allocator(nanobind::object calls) : calls_(std::move(calls)) {}
  python_allocator(const python_allocator&) = delete;
  python_allocator& operator=(const python_allocator&) = delete;
  ~python_allocator() override;

  void* allocate(std::size_t bytes, const stf::data_place& where, stream& s) override;
  void deallocate(void* start, std::size_t bytes, const stf::data_place& where, stream& s) noexcept override;

  // For the garbage collector, which may clear it.
  nanobind::object& calls() { return calls_; }

 private:
  nanobind::object calls_;
};

}  // namespace starling::python
