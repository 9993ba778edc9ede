// symmetric_array<T>: owns symmetric memory, an array of the same size at the same offset on every PE. Made by
// machine::allocate; freed when the owner dies. Kernels get the plain handles data() and view().
#pragma once

#include <memory>
#include <utility>

#include "starling/base/error.hpp"
#include "starling/device/symmetric.hpp"

namespace starling {

class backend;

// The untyped allocation behind symmetric_array.
class symmetric_memory {
 public:
  symmetric_memory() = default;
  symmetric_memory(std::shared_ptr<backend> machine, std::size_t bytes);
  symmetric_memory(symmetric_memory&& other) noexcept { swap(other); }
  symmetric_memory& operator=(symmetric_memory&& other) noexcept {
    symmetric_memory(std::move(other)).swap(*this);
    return *this;
  }
  ~symmetric_memory();

  bool allocated() const { return machine_ != nullptr; }
  std::byte* on_pe_0() const { return start_; }
  index_t stride_bytes() const { return stride_; }
  int n_pes() const { return n_pes_; }

 private:
  void swap(symmetric_memory& other) noexcept;

  std::shared_ptr<backend> machine_;
  std::byte* start_ = nullptr;
  index_t stride_ = 0;
  int n_pes_ = 0;
};

template <class T>
class symmetric_array {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "symmetric memory holds trivially copyable types");

  symmetric_array() = default;
  symmetric_array(symmetric_memory memory, index_t size) : memory_(std::move(memory)), size_(size) {}

  index_t size() const { return size_; }
  bool allocated() const { return memory_.allocated(); }

  // The handle for kernels. Throws argument_error when the array has been freed or moved from.
  sym<T> data() const {
    expect<argument_error>(allocated(), "symmetric array: used after it was freed or moved from; allocate it again");
    return {reinterpret_cast<T*>(memory_.on_pe_0()), memory_.stride_bytes()};
  }

  // The address on PE `pe`; on virtual devices the host may read and write it between programs.
  T* on(int pe) const {
    const sym<T> d = data();
    expect<range_error>(pe >= 0 && pe < memory_.n_pes(), "symmetric array: PE ", pe, " of a machine with ",
                        memory_.n_pes(), "; PEs are numbered from 0");
    return d.on(pe);
  }

  // The array with a shape; its extents must multiply to size().
  template <class... Extents>
  sym_view<T, sizeof...(Extents)> view(Extents... extents) const {
    const index_t wanted = (index_t{1} * ... * static_cast<index_t>(extents));
    expect<argument_error>(wanted == size_, "symmetric array: a view of ", wanted, " elements over an array of ", size_,
                           "; the extents must multiply to the array's size");
    return {data(), view_extents<sizeof...(Extents)>(static_cast<index_t>(extents)...)};
  }

  // Frees the memory on every PE.
  void reset() {
    memory_ = symmetric_memory();
    size_ = 0;
  }

 private:
  symmetric_memory memory_;
  index_t size_ = 0;
};

}  // namespace starling
