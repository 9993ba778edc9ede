// Logical data that makes no sense: handles of nothing or of another context, memory that cannot be the user's, values
// that nobody has written.
#include <stdexcept>

#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_data_tests {

// A view of a user whose data_interface contradicts itself.
struct odd_view {
  std::byte* start = nullptr;
  std::size_t offset = 0;
};
struct odd_shape {};

}  // namespace starling::test::stf_data_tests

template <>
struct starling::stf::data_interface<starling::test::stf_data_tests::odd_view> {
  using shape_type = test::stf_data_tests::odd_shape;
  using read_type = test::stf_data_tests::odd_view;
  static shape_type shape(const test::stf_data_tests::odd_view&) { return {}; }
  static std::size_t bytes(shape_type) { return 100; }
  static test::stf_data_tests::odd_view view(shape_type, std::byte* start) { return {start, 0}; }
  static std::vector<memory_part> parts(const test::stf_data_tests::odd_view& v) {
    return {{v.start, v.offset, 80, 1, 80}};
  }
};

namespace starling::test::stf_data_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::slice;

// The context and its machine still do what they should.
void check_goes_on(context& ctx, machine& m) {
  std::vector<int> values(10, 4);
  {
    auto d = ctx.logical_data(values);
    ctx.task(d.rw())->*increase;
  }
  ctx.finalize();
  CHECK(values == std::vector<int>(10, 5));
  check_usable(m);
}

TEST_CASE("data of another context") {
  machine m = machine::host(2);
  context ctx(m);
  context other(m);
  std::vector<int> x(5, 1);
  auto d = other.logical_data(x).set_symbol("x");
  check_parts(failure_of<argument_error>([&] { ctx.task(d.rw())->*nothing; }), {"'x'", "another context"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.wait(d); }), {"another context"});
  check_parts(failure_of<argument_error>([&] { ctx.host_launch(d.read())->*[](slice<const int>) {}; }),
              {"another context"});
  check_goes_on(ctx, m);
}

TEST_CASE("handles of nothing") {
  machine m = machine::host(1);
  context ctx(m);
  stf::logical_data<slice<int>> none;
  stf::logical_data<stf::scalar_view<int>> no_scalar;
  check_parts(failure_of<argument_error>([&] { ctx.task(none.rw()).set_symbol("t")->*nothing; }),
              {"task 't'", "none", "context::logical_data"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.wait(none); }), {"none"});
  check_parts(failure_of<argument_error>([&] { none.set_symbol("name"); }), {"'name'", "none"});
  check_parts(failure_of<argument_error>([&] {
                ctx.parallel_for(stf::box(3), none.reduce(stf::reducer::sum()))->*[](index_t, int& s) { ++s; };
              }),
              {"0 elements"});
  check_parts(failure_of<argument_error>([&] {
                ctx.parallel_for(stf::box(3), no_scalar.reduce(stf::reducer::sum()))->*[](index_t, int& s) { ++s; };
              }),
              {"none"});
  check_goes_on(ctx, m);
}

TEST_CASE("a value that nobody has written") {
  machine m = machine::host(2);
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    context ctx(m, {.backend = backend});
    auto d = ctx.logical_data(stf::shape_of<slice<int>>(5)).set_symbol("fresh");
    for (int i = 0; i < 2; ++i) {
      check_parts(failure_of<argument_error>([&] { ctx.task(d.rw())->*nothing; }), {"'fresh'", "write()"});
      check_parts(failure_of<argument_error>([&] { (void)ctx.wait(d); }), {"'fresh'", "write()"});
    }
    ctx.task(d.write())->*[](stream& s, slice<int> x) { s.fill(x.data_handle(), 0, 20); };
    ctx.task(d.rw())->*increase;
    CHECK(ctx.wait(d)(4) == 1);
    check_goes_on(ctx, m);
  }
}

TEST_CASE("the same data on two places in one task") {
  machine m = machine::host(2);
  context ctx(m);
  std::vector<int> x(5, 1);
  auto d = ctx.logical_data(x).set_symbol("x");
  check_parts(failure_of<argument_error>([&] {
                ctx.task(d.read(data_place::device(0)), d.rw(data_place::device(1)))
                        ->*[](stream&, slice<const int>, slice<int>) {};
              }),
              {"'x'", "device 0", "device 1", "one place"});
  // On one place it is one access that reads and writes.
  ctx.task(d.read(), d.write())->*[](stream& s, slice<const int> from, slice<int> to) {
    CHECK(from.data_handle() == to.data_handle());
    increase(s, to);
  };
  check_goes_on(ctx, m);
  CHECK(x == std::vector<int>(5, 2));
}

TEST_CASE("addresses and sizes that cannot be") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> memory(10);
  int* null = nullptr;
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(null, 3); }), {"null", "3 elements"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(slice<int>(null, 3)); }), {"null", "12 bytes"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(stf::scalar_view<int>()); }), {"null", "4"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(memory.data(), -1); }), {"-1 elements"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(slice<int>(memory.data(), -2)); }), {"-2"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(stf::shape_of<slice<int>>(-3)); }), {"-3"});
  check_parts(
      failure_of<argument_error>([&] { (void)ctx.logical_data(stf::shape_of<slice<double>>(index_t{1} << 61)); }),
      {"2305843009213693952 elements of 8 bytes", "2^63"});
  auto* odd = reinterpret_cast<int*>(reinterpret_cast<std::byte*>(memory.data()) + 1);
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(odd, 2); }), {"no multiple of 4"});
  check_parts(failure_of<argument_error>(
                  [&] { (void)ctx.logical_data(odd_view{reinterpret_cast<std::byte*>(memory.data()), 30}); }),
              {"80 bytes at 30", "has 100", "parts() and bytes()"});
  check_goes_on(ctx, m);
}

// An instance that is larger than what the user has is not made of the user's memory.
TEST_CASE("parts that do not cover the instance") {
  machine m = machine::host(1);
  std::vector<std::byte> memory(80, std::byte{7});
  context ctx(m);
  auto d = ctx.logical_data(odd_view{memory.data(), 0});
  ctx.host_launch(d.rw())->*[](odd_view v) {
    for (int i = 80; i < 100; ++i) v.start[i] = std::byte{9};
    v.start[79] = std::byte{8};
  };
  ctx.finalize();
  CHECK(memory[78] == std::byte{7});
  CHECK(memory[79] == std::byte{8});
  check_usable(m);
}

TEST_CASE("views whose elements are apart") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> memory(100);
  const auto part = [&](index_t row, index_t column) {
    return strided_view<int, 2>(memory.data() + 50, {view_extents<2>(3, 4), cuda::std::array<index_t, 2>{row, column}});
  };
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(part(-10, 1)); }),
              {"dimension of 3", "-10 apart", "not be negative"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(part(3, 1)); }),
              {"dimension of 3", "3 apart", "overlap"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(part(10, 0)); }), {"dimension of 4", "0 apart"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(part(5, 2)); }), {"dimension of 3", "5 apart"});
  const strided_view<int, 2> nowhere(static_cast<int*>(nullptr),
                                     {view_extents<2>(3, 4), cuda::std::array<index_t, 2>{10, 1}});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(nowhere); }), {"null"});
  check_goes_on(ctx, m);
}

TEST_CASE("data without elements") {
  machine m = machine::host(2);
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    context ctx(m, {.backend = backend, .device_memory = 1024});
    std::vector<int> empty;
    auto a = ctx.logical_data(empty);
    auto b = ctx.logical_data(stf::shape_of<slice<int, 2>>(0, 5));
    int sum = 3;
    auto total = ctx.logical_data(stf::scalar_view<int>(&sum));
    ctx.task(a.rw(data_place::device(1)), b.rw())->*[](stream&, slice<int> x, slice<int, 2> y) {
      CHECK(x.extent(0) == 0);
      CHECK(y.extent(1) == 5);
    };
    ctx.parallel_for(stf::exec_place::all_devices(), a.shape(), a.rw(), b.read())
            ->*[](index_t i, slice<int> x, slice<const int, 2>) { x(i) = 1; };
    ctx.parallel_for(stf::exec_place::host(), b.shape(), b.write(), total.reduce(stf::reducer::sum()))
            ->*[](index_t, index_t, slice<int, 2>, int& s) { ++s; };
    ctx.host_launch(a.read())->*[](slice<const int> x) {
      if (x.extent(0) != 0) throw argument_error("elements");
    };
    CHECK(ctx.wait(a).extent(0) == 0);
    ctx.finalize();
    CHECK(sum == 0);
    check_usable(m);
  }
}

TEST_CASE("write-back of what has no memory to go back to") {
  machine m = machine::host(1);
  context ctx(m);
  auto d = ctx.logical_data(stf::shape_of<slice<int>>(5)).set_symbol("temporary");
  for (const bool on : {false, true})
    check_parts(failure_of<argument_error>([&] { d.set_write_back(on); }), {"'temporary'", "no memory of the user"});
  check_parts(failure_of<argument_error>([&] { ctx.token().set_write_back(false); }), {"no memory of the user"});
  check_parts(failure_of<argument_error>([&] { stf::logical_data<slice<int>>().set_write_back(false); }), {"none"});
  check_goes_on(ctx, m);
}

TEST_CASE("numbers of values that there are not") {
  machine m = machine::host(1);
  context ctx(m);
  context other(m);
  std::vector<int> x(5, 1);
  auto d = other.logical_data(x);
  check_parts(failure_of<argument_error>([&] { (void)ctx.hash(d); }), {"context::hash", "another context"});
  auto fresh = ctx.logical_data(stf::shape_of<slice<int>>(5)).set_symbol("fresh");
  check_parts(failure_of<argument_error>([&] { (void)ctx.hash(fresh); }), {"'fresh'", "write()"});
  check_goes_on(ctx, m);
}

// Nobody waits for the value of such data, so that its loss is no error.
TEST_CASE("a task that threw and data that is not written back") {
  machine m = machine::host(1);
  context ctx(m);
  std::vector<int> x(5, 1);
  auto d = ctx.logical_data(x).set_write_back(false);
  (void)failure_of<std::runtime_error>(
      [&] { ctx.task(d.rw())->*[](stream&, slice<int>) { throw std::runtime_error("no"); }; });
  check_goes_on(ctx, m);
}

}  // namespace
}  // namespace starling::test::stf_data_tests
