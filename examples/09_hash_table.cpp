// Data of a type of your own that no user's memory holds: a hash table with open addressing. A loop inserts keys with
// atomic operations, another one looks them up on another device.
#include <cstdint>
#include <cstdio>
#include <cuda/atomic>
#include <vector>

#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using st::index_t;
using stf::slice;

struct table_shape {
  index_t slots = 0;  // a power of 2
};

// Word is `std::uint64_t`, or `const std::uint64_t` for who only looks up.
template <class Word>
struct table_view {
  static constexpr std::uint64_t empty = ~std::uint64_t{0};

  index_t slots = 0;
  Word* keys = nullptr;
  Word* values = nullptr;

  template <class Const>
    requires(!std::is_const_v<Word> && std::is_same_v<Const, const Word>)
  operator table_view<Const>() const  // NOLINT: as with pointers
  {
    return {slots, keys, values};
  }

  STARLING_HD index_t first_slot(std::uint64_t key) const {
    return static_cast<index_t>((key * 0x9e3779b97f4a7c15u >> 20) & static_cast<std::uint64_t>(slots - 1));
  }
  // Many threads may insert at a time, each its own keys. The table must have a free slot.
  STARLING_HD void insert(std::uint64_t key, std::uint64_t value) const {
    for (index_t s = first_slot(key);; s = (s + 1) & (slots - 1)) {
      std::uint64_t there = empty;
      if (!cuda::atomic_ref<Word, cuda::thread_scope_device>(keys[s]).compare_exchange_strong(
              there, key, cuda::memory_order_relaxed))
        continue;
      values[s] = value;
      return;
    }
  }
  STARLING_HD std::uint64_t find(std::uint64_t key) const {
    for (index_t s = first_slot(key); keys[s] != empty; s = (s + 1) & (slots - 1))
      if (keys[s] == key) return values[s];
    return empty;
  }
};

using table = table_view<std::uint64_t>;
using const_table = table_view<const std::uint64_t>;

template <>
struct starling::stf::data_interface<table> {
  using read_type = const_table;
  using shape_type = table_shape;

  static std::size_t bytes(const shape_type& s) {
    return 2 * static_cast<std::size_t>(s.slots) * sizeof(std::uint64_t);
  }
  static table view(const shape_type& s, std::byte* start) {
    auto* words = reinterpret_cast<std::uint64_t*>(start);
    return {s.slots, words, words + s.slots};
  }
};

int main() try {
  constexpr index_t n = 3000;
  constexpr index_t slots = 4096;
  stf::context ctx;
  const auto last = stf::exec_place::device(ctx.on().size() - 1);
  auto squares = ctx.logical_data_of<table>(table_shape{slots});
  std::vector<std::uint64_t> found(2 * n);
  auto lFound = ctx.logical_data(found);

  ctx.parallel_for(stf::box(slots), squares.write())->*STARLING_KERNEL(index_t s, table t) {
    t.keys[s] = table::empty;
  };
  ctx.parallel_for(stf::box(n), squares.rw())->*STARLING_KERNEL(index_t i, table t) {
    const auto key = static_cast<std::uint64_t>(7 * i);
    t.insert(key, key * key);
  };
  // Every second key is in the table.
  ctx.parallel_for(last, lFound.shape(), squares.read(), lFound.write())
          ->*STARLING_KERNEL(index_t i, const_table t, slice<std::uint64_t> f) {
    f(i) = t.find(static_cast<std::uint64_t>(i % 2 == 0 ? 7 * (i / 2) : 7 * i + 1));
  };
  ctx.finalize();

  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != (i % 2 == 0 ? 49 * (i / 2) * (i / 2) : table::empty)) return 1;
  std::printf("%d keys in %d slots, all found on device %d\n", static_cast<int>(n), static_cast<int>(slots),
              last.first());
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
