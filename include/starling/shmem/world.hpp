// OpenSHMEM on the host: one process has all PEs of a machine, so the host is none of them, and what it puts and gets
// goes to the memory of the PE that it names.
//
//   shmem::world w(machine::best());
//   const auto box = w.calloc<double>(n);    // on every PE; freed with the array, or by w.free(box)
//   w.on(1).put(box, x.data(), n);           // from memory of the host to PE 1
//   const double first = w.on(1).g(box);
//
// Every call is done when it returns, so fence and quiet have no counterpart, and barrier_all has nothing to wait for.
// Kernels run by machine::run, between calls. Memory is symmetric_array, so that it is the machine's and kernels take
// its handles: data() and view(). PEs that do not exist and ranges outside of one live allocation are a range_error,
// which names them.
#pragma once

#include <optional>

#include "starling/machine/machine.hpp"
#include "starling/shmem/address.hpp"

namespace starling::shmem {

// What the host takes for an object that every PE has: an array or a handle into one.
template <class Address>
struct host_traits {};
template <class T>
struct host_traits<sym<T>> {
  using element = T;
  static sym<T> handle(const sym<T>& x) { return x; }
};
template <class T>
struct host_traits<symmetric_array<T>> {
  using element = T;
  static sym<T> handle(const symmetric_array<T>& x) { return x.data(); }
};
template <class Address>
using host_element = typename host_traits<Address>::element;

class world;

// The memory of one PE, as the host reaches it. Lives as long as its world.
class pe_memory {
 public:
  int pe() const { return pe_; }

  // n elements to the PE and from it.
  template <class Dest>
  void put(const Dest& dest, const host_element<Dest>* source, index_t n, where at = where::current()) const {
    copy(on(dest), source, bytes<host_element<Dest>>("put", n), at);
  }
  template <class Source>
  void get(std::remove_const_t<host_element<Source>>* dest, const Source& source, index_t n,
           where at = where::current()) const {
    copy(dest, on(source), bytes<host_element<Source>>("get", n), at);
  }
  template <class Dest>
  void putmem(const Dest& dest, const void* source, index_t n, where at = where::current()) const {
    copy(on(dest), source, bytes<std::byte>("putmem", n), at);
  }
  template <class Source>
  void getmem(void* dest, const Source& source, index_t n, where at = where::current()) const {
    copy(dest, on(source), bytes<std::byte>("getmem", n), at);
  }

  // The same with strides in elements, at least 1.
  template <class Dest>
  void iput(const Dest& dest, const host_element<Dest>* source, index_t dest_stride, index_t source_stride,
            index_t n) const {
    copy_strided(on(dest), dest_stride, source, source_stride, n, sizeof(host_element<Dest>));
  }
  template <class Source>
  void iget(std::remove_const_t<host_element<Source>>* dest, const Source& source, index_t dest_stride,
            index_t source_stride, index_t n) const {
    copy_strided(dest, dest_stride, on(source), source_stride, n, sizeof(host_element<Source>));
  }

  // One element.
  template <class Dest>
  void p(const Dest& dest, const host_element<Dest>& value, where at = where::current()) const {
    copy(on(dest), &value, sizeof value, at);
  }
  template <class Source>
  std::remove_const_t<host_element<Source>> g(const Source& source, where at = where::current()) const {
    std::remove_const_t<host_element<Source>> value;
    copy(&value, on(source), sizeof value, at);
    return value;
  }

  // Data, then its signal. The host's signal_add reads and writes: no kernel may raise the same signal meanwhile.
  template <class Dest, class Signal>
  void put_signal(const Dest& dest, const host_element<Dest>* source, index_t n, const Signal& sig, std::uint64_t value,
                  signal_op op = signal_op::set, where at = where::current()) const {
    put(dest, source, n, at);
    if (op == signal_op::set)
      signal_set(sig, value, at);
    else
      signal_add(sig, value, at);
  }
  template <class Signal>
  void signal_set(const Signal& sig, std::uint64_t value, where at = where::current()) const {
    p(sig, host_element<Signal>{value}, at);
  }
  template <class Signal>
  void signal_add(const Signal& sig, std::uint64_t value, where at = where::current()) const {
    signal_set(sig, signal_fetch(sig, at) + value, at);
  }
  template <class Signal>
  std::uint64_t signal_fetch(const Signal& sig, where at = where::current()) const {
    static_assert(sizeof(host_element<Signal>) == sizeof(std::uint64_t), "a signal is a 64-bit word");
    const auto seen = g(sig, at);
    if constexpr (std::is_same_v<host_element<Signal>, signal>)
      return seen.value;
    else
      return seen;
  }

  // Where the host can load and store it in place; null where only calls reach it: on GPUs.
  template <class Address>
  host_element<Address>* ptr(const Address& x) const {
    return in_place() ? on(x) : nullptr;
  }

 private:
  friend class world;
  pe_memory(world& of, int pe) : world_(&of), pe_(pe) {}

  template <class Address>
  host_element<Address>* on(const Address& x) const {
    return host_traits<Address>::handle(x).on(pe_);
  }
  template <class T>
  static std::size_t bytes(const char* call, index_t n) {
    return bytes_of(call, n, sizeof(T));
  }
  static std::size_t bytes_of(const char* call, index_t n, std::size_t element);
  void copy(void* dest, const void* source, std::size_t bytes, where at) const;
  void copy_strided(void* dest, index_t dest_stride, const void* source, index_t source_stride, index_t n,
                    std::size_t element) const;
  bool in_place() const;

  world* world_;
  int pe_;
};

// What shmem_info_get_version and shmem_info_get_name tell: the version of OpenSHMEM whose names and meanings these
// are.
inline constexpr int major_version = 1;
inline constexpr int minor_version = 5;
inline constexpr const char* library_name = "Starling";

class world {
 public:
  explicit world(starling::machine m) : machine_(std::move(m)) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  int n_pes() const { return machine_.size(); }
  // To run programs by.
  starling::machine& machine() { return machine_; }

  // n objects on every PE; malloc leaves them as they are (signals are 0), calloc makes all bytes 0. memory_error with
  // the sizes where they do not fit. One call is for all PEs, so that sizes cannot differ between them.
  template <class T>
  symmetric_array<T> malloc(index_t n) {
    return machine_.allocate<T>(n);
  }
  template <class T>
  symmetric_array<T> calloc(index_t n) {
    auto fresh = machine_.allocate<T>(n);
    for (int pe = 0; pe < n_pes(); ++pe) machine_.fill(fresh.on(pe), 0, static_cast<std::size_t>(n) * sizeof(T));
    return fresh;
  }
  // At a multiple of `alignment`, a power of two up to 256, at which every allocation begins.
  template <class T>
  symmetric_array<T> align(std::size_t alignment, index_t n) {
    check_alignment(alignment);
    return malloc<T>(n);
  }
  template <class T>
  void free(symmetric_array<T>& x) {
    x.reset();
  }

  // The memory of PE `pe`; range_error where there is none.
  pe_memory on(int pe);

  // All that the host has put is there on every PE: as after every call, since each is done when it returns.
  void barrier_all() const {}

 private:
  friend class pe_memory;
  static void check_alignment(std::size_t alignment);

  starling::machine machine_;
  std::optional<stream> rows_;  // by which strided copies go
};

}  // namespace starling::shmem
