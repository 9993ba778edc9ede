// Allocators of users that give nothing, throw, or give what cannot be used.
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/counting_allocator.hpp"
#include "support/failure.hpp"
#include "support/random.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_allocators_tests {
namespace {

using stf::context;
using stf::slice;

// Fails in some way until it is told not to.
class failing : public counting_allocator {
 public:
  enum class way { null, error, number, memory, misaligned, calls_context, none };
  failing(machine m, way w) : counting_allocator(std::move(m)), how(w) {}

  void* allocate(std::size_t bytes, const stf::data_place& where, stream& s) override {
    switch (how) {
      case way::null:
        return nullptr;
      case way::error:
        throw std::runtime_error("the pool is closed");
      case way::number:
        throw 42;
      case way::memory:
        throw memory_error("the pool has 3 bytes");
      case way::misaligned:
        return static_cast<std::byte*>(counting_allocator::allocate(bytes + 8, where, s)) + 8;
      case way::calls_context:
        (void)ctx->statistics();
        return nullptr;
      case way::none:
        break;
    }
    return counting_allocator::allocate(bytes, where, s);
  }
  void deallocate(void* start, std::size_t bytes, const stf::data_place& where, stream& s) noexcept override {
    if (how == way::misaligned)
      counting_allocator::deallocate(static_cast<std::byte*>(start) - 8, bytes + 8, where, s);
    else
      counting_allocator::deallocate(start, bytes, where, s);
  }

  way how;
  context* ctx = nullptr;
};

TEST_CASE("an allocator that fails") {
  using way = failing::way;
  machine m = machine::host(1);
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    for (const std::size_t cap : {std::size_t{0}, std::size_t{4096}}) {
      const auto alloc = std::make_shared<failing>(m, way::null);
      context ctx(m, {.backend = backend, .device_memory = cap, .device_allocator = alloc});
      alloc->ctx = &ctx;
      std::vector<int> x(500, 1);
      auto d = ctx.logical_data(x).set_symbol("x");
      const auto submit = [&] { ctx.task(d.rw())->*increase; };
      check_parts(failure_of<memory_error>(submit),
                  {"'x'", "1.953 KiB", "allocator of device 0", "gave none of 2 KiB"});
      alloc->how = way::error;
      check_parts(failure_of<memory_error>(submit), {"'x'", "2 KiB", "the pool is closed"});
      alloc->how = way::number;
      check_parts(failure_of<memory_error>(submit), {"'x'", "no std::exception"});
      alloc->how = way::memory;
      check_parts(failure_of<memory_error>(submit), {"'x'", "the pool has 3 bytes"});
      alloc->how = way::calls_context;
      check_parts(failure_of<memory_error>(submit), {"'x'", "statistics", "in an allocator"});
      alloc->how = way::misaligned;
      check_parts(failure_of<argument_error>(submit), {"allocator of device 0", cap > 0 ? "4 KiB" : "2 KiB", "256"});
      CHECK(alloc->bytes() == 0);
      // Nothing is lost, and the context goes on.
      alloc->how = way::none;
      submit();
      ctx.finalize();
      CHECK(x == std::vector<int>(500, 2));
      CHECK(alloc->bytes() == 0);
      CHECK(alloc->nothing_wrong());
      check_usable(m);
    }
  }
}

TEST_CASE("an allocator of the host that fails") {
  machine m = machine::host(1);
  const auto alloc = std::make_shared<failing>(m, failing::way::null);
  context ctx(m, {.host_allocator = alloc});
  auto d = ctx.logical_data(stf::shape_of<slice<int>>(1000));
  ctx.task(d.write())->*[](stream& s, slice<int> v) { s.fill(v.data_handle(), 1, 4000); };
  check_parts(failure_of<memory_error>([&] { ctx.wait(d); }), {"on host", "3.906 KiB", "allocator of host"});
  alloc->how = failing::way::none;
  CHECK(ctx.wait(d)(999) == 0x01010101);
  ctx.finalize();
  CHECK(alloc->bytes() == 0);
  check_usable(m);
}

// What cannot be written back yet is, with what comes after it, when that can be done.
TEST_CASE("an allocator of the host that fails when handles have gone") {
  machine m = machine::host(1);
  random r(std::random_device{}());
  INFO("STARLING_TEST_SEED=" << r.seed);
  const int first = static_cast<int>(r.below(1'000'000)), second = static_cast<int>(r.below(1'000'000));
  std::vector<int> x(256, first), y(10, second), z(10, second);
  const auto alloc = std::make_shared<failing>(m, failing::way::null);
  {
    context ctx(m, {.device_memory = 768, .host_allocator = alloc});
    {
      // Every other number: a sum needs a copy on the device, for which there is no room, or on the host.
      auto d =
          ctx.logical_data(strided_view<int, 1>(x.data(), {view_extents<1>(128), cuda::std::array<index_t, 1>{2}}));
      ctx.task(d.reduce(stf::reducer::sum()))->*increase;
      auto e = ctx.logical_data(y);
      ctx.task(e.rw())->*increase;
    }
    check_parts(failure_of<memory_error>([&] { (void)ctx.logical_data(z); }), {"host", "allocator of host"});
    ctx.synchronize();
    CHECK(y == std::vector<int>(10, second + 1));
    CHECK(x[0] == first);
    alloc->how = failing::way::none;
    auto other = ctx.logical_data(z);
    ctx.task(other.rw())->*increase;
    ctx.finalize();
  }
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == first + (i % 2 == 0 ? 1 : 0));
  CHECK(z == std::vector<int>(10, second + 1));
  CHECK(alloc->bytes() == 0);
  check_usable(m);
}

TEST_CASE("an exception past a context gives all back") {
  machine m = machine::host(1);
  const auto alloc = std::make_shared<counting_allocator>(m);
  std::vector<int> x(500, 1);
  try {
    context ctx(m, {.device_allocator = alloc});
    auto d = ctx.logical_data(x);
    ctx.task(d.rw())->*increase;
    CHECK(alloc->bytes() > 0);
    throw std::runtime_error("past it");
  } catch (const std::runtime_error&) {
  }
  CHECK(alloc->bytes() == 0);
  CHECK(alloc->nothing_wrong());
}

}  // namespace
}  // namespace starling::test::stf_allocators_tests
