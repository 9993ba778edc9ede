// What a virtual device does for one block: the host side of every communication call. Implemented in src/machine/host;
// kernels never see it. One port belongs to one block, so that a port may hold that block's undelivered puts.
#pragma once

#include <cuda/atomic>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

#include "starling/base/index.hpp"
#include "starling/device/report.hpp"
#include "starling/device/word.hpp"

namespace starling {

class block;

// What bytes_behind says when the compiler cannot tell.
inline constexpr auto unknown_bytes = static_cast<std::size_t>(-1);

// How many bytes lie between an address and the end of the variable that it points into. Known where the optimiser sees
// the variable, so it and whoever calls it must be inlined into the kernel.
[[gnu::always_inline]] inline std::size_t bytes_behind(const void* address) {
  return __builtin_object_size(address, 0);
}

// Operations of a block are of its context 0, or of one that it has opened: fence and quiet are of one context.

// `count` elements of `element` bytes each; strides in elements. `remote` lies in the memory of PE `pe`.
struct transfer {
  void* dest = nullptr;
  const void* source = nullptr;
  index_t count = 0;
  std::size_t element = 1;
  index_t dest_stride = 1;
  index_t source_stride = 1;
  int pe = 0;
  bool blocking = true;  // false: the source (of a get: the destination) is not to be touched until quiet()
  where at{};
  // Bytes from the near side's address to the end of its variable; unknown unless the compiler can tell.
  std::size_t near_bytes = unknown_bytes;
  int context = 0;
  bool barrier = true;  // whether on a GPU a blocking one ends with a barrier of the group
};

struct signal_update {
  signal* target = nullptr;  // the copy on PE `pe`
  signal_op op = signal_op::set;
  std::uint64_t value = 0;
  int pe = 0;
  where at{};
  // Whether it releases what the block wrote before. The number of a packet does not: it tells of its own data only.
  bool orders = true;
  int context = 0;
};

// A wait for a word of the block's own PE, or for any one of several that lie side by side.
struct wait_request {
  const void* local = nullptr;  // the first
  compare how = compare::ge;
  std::uint64_t wanted = 0;  // widened
  int from = any_pe;
  operation op = operation::wait;
  where at{};
  bool idle = false;  // for work that may never come: no deadline, ends with the program
  word_kind kind = word_kind::unsigned_8;
  std::uint64_t limit_ns = 0;       // it gives up after that time, and the program goes on; 0: it ends the program
  index_t n = 1;                    // words
  const int* excluded = nullptr;    // by word: not zero for those that do not count; null: all do
  const void* wanted_of = nullptr;  // by word: what it is compared with, of the word's type; null: `wanted` for all
  std::uint64_t* seen = nullptr;    // of a wait for one word: where the value goes that compared; null: nowhere
};

// How a network card does an atomic operation: by its own ones on integers, or by comparing and swapping.
enum class by_card : std::uint8_t { load, add, compare_swap, other };

// One atomic operation on the copy of PE `pe`.
struct atomic_call {
  void* address = nullptr;
  std::size_t bytes = 0;
  int pe = 0;
  cuda::memory_order order = cuda::memory_order_relaxed;
  where at{};
  bool (*apply)(void* argument) = nullptr;  // does it; whether it stored
  void* argument = nullptr;
  int context = 0;
  // Not null: the call does not wait for the result; `bytes` of it, which apply leaves at `result`, go here until
  // quiet().
  void* fetch = nullptr;
  const void* result = nullptr;
  // For a card: what it adds or stores, and compares with; otherwise what the word is to hold after it held `old`. All
  // are the word's bits. answer() tells the argument what the word held.
  by_card card = by_card::load;
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;
  std::uint64_t (*changed)(const void* argument, std::uint64_t old) = nullptr;
  void (*answer)(void* argument, std::uint64_t old) = nullptr;
};

constexpr bool releases(cuda::memory_order o) {
  return o == cuda::memory_order_release || o == cuda::memory_order_acq_rel || o == cuda::memory_order_seq_cst;
}
constexpr bool acquires(cuda::memory_order o) {
  return o == cuda::memory_order_acquire || o == cuda::memory_order_acq_rel || o == cuda::memory_order_seq_cst;
}

// A kernel of one block that a thread launches: run(closure, block).
struct kernel_launch {
  void (*run)(const void* closure, block& b) = nullptr;
  std::shared_ptr<const void> closure = {};
  std::size_t closure_bytes = 0;
  where at{};
};

// An argument that all threads of a block pass alike, so that two can be compared: its bits, or a hash of them. Of a
// type whose equal values may differ in bits that do not count, always the same.
template <class T>
std::uint64_t argument_bits(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  if constexpr (std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>) {
    // FNV-1a
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    for (std::size_t i = 0; i < sizeof(T); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
    return hash;
  } else {
    return 0;
  }
}

// A barrier or reduction, as its block calls it.
struct collective_call {
  operation op = operation::none;
  std::size_t bytes = 0;         // of the value it carries
  std::uint64_t value_bits = 0;  // argument_bits of that
  int root = any_pe;             // of a broadcast
  const char* by = "";           // how a reduction combines, if it is one of the functions of reduce.hpp
  where at{};
  // Of a collective of a team: what is the same for those of its blocks that meet, and for no others.
  const void* meeting = nullptr;
};

// Pieces of scratch memory are aligned to so many bytes, and take a multiple of them.
inline constexpr index_t scratch_unit = 16;
// What a piece takes; for counts that make no sense, more than there is.
constexpr std::size_t scratch_taken(std::size_t bytes) {
  constexpr auto unit = static_cast<std::size_t>(scratch_unit);
  return bytes > unknown_bytes - unit ? unknown_bytes : (bytes + unit - 1) / unit * unit;
}

// The order in which a loop over threads visits its elements: threads of a block have none, so any will do.
struct lane_order {
  int lanes = 1;  // elements i, i + lanes, i + 2 lanes ... come after one another
  bool backwards = false;

  template <class F>
  [[gnu::always_inline]] void visit(index_range r, F&& f) const {
    for (index_t lane = 0; lane < lanes; ++lane)
      for (index_t i = lane; i < r.size(); i += lanes) f(backwards ? r.end - 1 - i : r.begin + i);
  }
};

// Calls of a block's port are those of all its threads; of the port of a warp (warp()) those of its threads; of the
// port of one thread (own()) that thread's alone. Where a block is one thread, as in runs, all are the same. In check
// mode a block may have several: each has a port of its own, and so do they together, in which calls meet. See
// check/block_threads.hpp.
class host_port {
 public:
  virtual ~host_port() = default;

  // Which thread of its block makes the calls, and of how many.
  STARLING_HD int thread_of_block() const { return thread_; }
  STARLING_HD int threads_of_block() const { return threads_; }
  STARLING_HD int threads_of_warp() const { return threads_of_warp_; }
  // For calls of the calling thread alone.
  virtual host_port& own() { return *this; }
  // For calls of the threads of its warp.
  virtual host_port& warp() { return own(); }
  // Barrier of the threads.
  virtual void sync(where) {}
  // Barrier of `count` of them from number `first` on, which all call it.
  virtual void sync_part([[maybe_unused]] int first, [[maybe_unused]] int count, where) {}
  // Barrier; how many threads have passed true. Of a warp this and gather order no memory.
  virtual int votes(bool value, where) { return value ? 1 : 0; }
  // Barrier; the values of all threads, one after the other, which are there until the next one.
  virtual const std::byte* gather(const void* value, [[maybe_unused]] std::size_t bytes, where) {
    return static_cast<const std::byte*>(value);
  }

  // Told of calls of the group that its first thread makes for all, as each thread comes to one.
  virtual void come_alike([[maybe_unused]] const char* what,
                          [[maybe_unused]] std::initializer_list<std::uint64_t> arguments, where) {}

  // Told by a loop whose elements are unordered, those of one thread too: the thread begins its part, comes to the
  // element with these coordinates, and has done its part.
  virtual void begin_loop() {}
  virtual void next_element([[maybe_unused]] std::span<const index_t> at) {}
  virtual void end_loop() {}

  virtual void put(const transfer& t) = 0;
  virtual void put_signal(const transfer& t, const signal_update& s) = 0;
  virtual void get(const transfer& t) = 0;
  virtual void update(const signal_update& s) = 0;

  // Returns true when one of the words compares as wanted, and false when the request's own time has passed. When the
  // deadline passes or the program is ended elsewhere, throws what unwinds the kernel.
  virtual bool wait(const wait_request& w) = 0;
  virtual bool test(const wait_request& w) = 0;

  // Does the operation, and wakes those who wait for its word.
  virtual void atomic(const atomic_call& c) = 0;

  // Has it run beside the program, now or later, and returns at once. False: as many as may have not begun. Throws
  // argument_error unless the program says what it launches.
  virtual bool launch(const kernel_launch& k) = 0;

  // Told at the start of each barrier and reduction.
  virtual void collective(const collective_call& c) = 0;
  virtual lane_order lanes() { return {}; }

  // Of the block's operations of one context.
  virtual void fence(int context) = 0;
  virtual void quiet(int context) = 0;
  // A context that the block has not open, from 1 up; 0 is always open. One that is closed has nothing on its way.
  virtual int open_context() = 0;
  virtual void close_context(int context) = 0;
  // From now on the block may load and store in place what PE `pe` has; false: it cannot, since a card is between.
  virtual bool reach(int pe) = 0;

  // Ends the program because `pe` does not exist.
  [[noreturn]] virtual void refuse_pe(operation op, int pe, where at) = 0;
  // Ends the program because a pointer was given for a symmetric address and is none.
  [[noreturn]] virtual void refuse_address(const void* address, where at) = 0;
  // Ends a plain launch whose kernel called a barrier.
  [[noreturn]] virtual void refuse_barrier(operation op, where at) = 0;

  // Memory of the block, alive until the kernel returns; of what the launch asked for it takes whole scratch_units.
  // Ends the program when that is not as much.
  virtual std::byte* scratch(std::size_t bytes, where at) = 0;
  // Memory for the source of one put, reused by the next call.
  virtual std::byte* staging(std::size_t bytes) = 0;

  // The kernel has returned: what is on its way arrives.
  virtual void end() {}

 protected:
  void set_thread(int thread, int threads, int threads_of_warp) {
    thread_ = thread;
    threads_ = threads;
    threads_of_warp_ = threads_of_warp;
  }

 private:
  int thread_ = 0;
  int threads_ = 1;
  int threads_of_warp_ = 1;
};

}  // namespace starling
