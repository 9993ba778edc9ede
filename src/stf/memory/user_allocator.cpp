#include "user_allocator.hpp"

#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "data_state.hpp"
#include "place_memory.hpp"
#include "starling/stf/detail/host_body.hpp"
#include "stf/order/stream_pool.hpp"

namespace starling::stf {
namespace {

static_assert(allocator::alignment == place_memory::alignment);

// Of one place: the allocator and the stream that it is given.
struct users_pool {
  std::shared_ptr<allocator> from;
  machine on;
  data_place where;
  std::optional<stream> order;

  stream& its_stream() {
    const int pe = pe_of(where);
    if (!order) order.emplace(on.new_stream(pe == host_place ? 0 : pe));
    return *order;
  }

  // Null with what was thrown in `why`, or without.
  void* allocate(std::size_t bytes, std::string& why) {
    stream& s = its_stream();
    const host_body no_calls_of_contexts;
    try {
      return from->allocate(bytes, where, s);
    } catch (const std::exception& e) {
      why = message(" (", e.what(), ")");
    } catch (...) {
      why = " (it threw what is no std::exception)";
    }
    return nullptr;
  }

  void deallocate(void* start, std::size_t bytes) noexcept {
    const host_body no_calls_of_contexts;
    from->deallocate(start, bytes, where, *order);
  }
};

struct users_piece {
  std::shared_ptr<users_pool> from;
  void* start;
  std::size_t bytes;

  users_piece(std::shared_ptr<users_pool> pool, void* at, std::size_t size)
      : from(std::move(pool)), start(at), bytes(size) {}
  users_piece(const users_piece&) = delete;
  users_piece& operator=(const users_piece&) = delete;
  ~users_piece() { from->deallocate(start, bytes); }
};

// When what the allocator has put into its stream is over.
sync_point_list ready(stream& s, stream_pool& streams) {
  if (!streams.recording()) return streams.after(s);
  // What is recorded may be launched before anything that could be waited for.
  s.synchronize();
  return {};
}

slab lend(const std::shared_ptr<users_pool>& pool, void* start, std::size_t bytes, stream_pool& streams) {
  auto piece = std::make_shared<users_piece>(pool, start, bytes);
  expect<argument_error>(reinterpret_cast<std::uintptr_t>(start) % allocator::alignment == 0, "stf: the allocator of ",
                         describe(pool->where), " gave ", format_bytes(bytes), " at ", start,
                         ", which is no multiple of ", allocator::alignment, " (stf::allocator::alignment)");
  return {static_cast<std::byte*>(start), bytes, std::move(piece), ready(*pool->order, streams)};
}

}  // namespace

slab_source memory_of_allocator(std::shared_ptr<allocator> from, machine m, const data_place& where,
                                stream_pool& streams) {
  auto pool = std::make_shared<users_pool>(users_pool{std::move(from), std::move(m), where, {}});
  const auto take = [pool = std::move(pool), &streams](const slab_wish& w) {
    const bool capped = w.most < std::numeric_limits<std::size_t>::max();
    std::string why;
    if (capped && w.wanted > w.least)
      if (void* start = pool->allocate(w.wanted, why)) return lend(pool, start, w.wanted, streams);
    if (void* start = pool->allocate(w.least, why)) return lend(pool, start, w.least, streams);
    throw allocator_refusal(
        message("the allocator of ", describe(pool->where), " gave none of ", format_bytes(w.least), why));
  };
  return {take, true};
}

}  // namespace starling::stf
