// Places, partitioners, reductions and drawings that cannot be: refused before the task begins, so that no data loses
// its value.
#include <climits>

#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/stf/bodies.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_places_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

// Owners that a grid of 2 does not have.
struct far_owner {
  int what = 0;
  template <int Rank>
  STARLING_HD index_t owner(const stf::coords<Rank>&, const stf::box<Rank>&, index_t) const {
    return what;
  }
};

struct place_fixture {
  machine m = machine::host(2);
  std::vector<int> x = std::vector<int>(12, 3);
  context ctx{m};
  stf::logical_data<slice<int>> d = ctx.logical_data(x);

  // d has kept its value through all of it.
  ~place_fixture() {
    ctx.task(exec_place::device(1), d.rw())->*[](stream& s, slice<int> v) { s.fill(v.data_handle(), 0, 4); };
    ctx.finalize();
    std::vector<int> expected(12, 3);
    expected[0] = 0;
    CHECK(x == expected);
    check_usable(m);
  }
};

TEST_CASE_FIXTURE(place_fixture, "places that cannot be listed") {
  check_parts(failure_of<range_error>([&] { (void)ctx.places(exec_place::grid({0, 2})); }),
              {"device 2", "machine with 2"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.places(exec_place::automatic()); }), {"names no devices"});
}

TEST_CASE_FIXTURE(place_fixture, "a grid of owners that is not that of the devices") {
  check_parts(
      failure_of<argument_error>([&] {
        ctx.parallel_for(stf::blocked_grid{3}, exec_place::all_devices(), d.shape(), d.rw())->*[](index_t, slice<int>) {
        };
      }),
      {"grid of 3 owners", "2 owners"});
  const auto lies = data_place::composite(stf::blocked_grid{1, 2}, exec_place::all_devices());
  check_parts(failure_of<argument_error>([&] { ctx.task(exec_place::all_devices(), d.rw(lies))->*nothing; }),
              {"1 x 2 owners", "1 dimension"});
}

TEST_CASE_FIXTURE(place_fixture, "devices out of range") {
  for (const int pe : {-1, 2, INT_MAX, INT_MIN}) {
    check_parts(failure_of<range_error>([&] { ctx.task(exec_place::device(pe), d.rw())->*nothing; }),
                {message("device ", pe), "machine with 2"});
    check_parts(failure_of<range_error>([&] { ctx.task(exec_place::grid({0, pe}), d.rw())->*nothing; }),
                {message("device ", pe)});
    check_parts(
        failure_of<range_error>([&] { (void)ctx.logical_data(slice<int>(x.data(), 12), data_place::device(pe)); }),
        {message("device(", pe, ")"), "2 devices"});
    check_parts(failure_of<range_error>([&] { ctx.task(d.rw(data_place::device(pe)))->*nothing; }),
                {message("device(", pe, ")"), "2 devices"});
    check_parts(failure_of<range_error>(
                    [&] { ctx.task(d.rw(data_place::composite(stf::blocked(), exec_place::grid({pe}))))->*nothing; }),
                {message("device ", pe)});
    check_parts(failure_of<range_error>(
                    [&] { ctx.parallel_for(exec_place::device(pe), d.shape(), d.rw())->*[](index_t, slice<int>) {}; }),
                {message("device ", pe)});
  }
}

TEST_CASE_FIXTURE(place_fixture, "managed memory and another place in one task") {
  d.set_symbol("d");
  check_parts(failure_of<argument_error>([&] {
                ctx.task(d.read(data_place::managed()), d.rw())->*[](stream&, slice<const int>, slice<int>) {};
              }),
              {"'d'", "used twice", "managed memory", "device 0"});
  auto fresh = ctx.logical_data(stf::shape_of<slice<int>>(4)).set_symbol("fresh");
  check_parts(failure_of<argument_error>([&] { ctx.task(fresh.rw(data_place::managed()))->*nothing; }),
              {"'fresh'", "write()"});
  CHECK_THROWS_AS(ctx.prefetch(fresh, data_place::managed()), argument_error);
}

TEST_CASE_FIXTURE(place_fixture, "a copy on each device, for what one value is needed for") {
  const auto everywhere = data_place::replicated();
  const auto all = exec_place::all_devices();
  const std::string say = "data_place::replicated";
  d.set_symbol("d");
  check_parts(failure_of<argument_error>([&] { ctx.task(all, d.rw(everywhere)).set_symbol("t")->*nothing; }),
              {"task 't'", "writes", "'d'", say, "only read()"});
  check_parts(failure_of<argument_error>([&] { ctx.task(exec_place::device(1), d.write(everywhere))->*nothing; }),
              {"'d'", say});
  check_parts(failure_of<argument_error>(
                  [&] { ctx.task(all, d.read(everywhere), d.rw())->*[](stream&, slice<const int>, slice<int>) {}; }),
              {"'d'", "used twice", say});
  check_parts(failure_of<argument_error>([&] { (void)ctx.freeze(d.rw(everywhere)); }), {"freeze", "'d'", "one device"});
  {
    auto f = ctx.freeze(d.read(everywhere));
    stream far = machine::host(4).new_stream(3);
    check_parts(failure_of<range_error>([&] { (void)f.get(far); }), {"device 3", "machine has 2"});
    check_parts(failure_of<argument_error>([&] { ctx.task(all, d.rw())->*nothing; }), {"'d'", "frozen", "unfreeze"});
  }
  check_parts(failure_of<argument_error>([&] { (void)ctx.split(d, 2, stf::blocked(), everywhere); }),
              {"split", "'d'", "one device"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(slice<int>(x.data(), 12), everywhere); }),
              {"memory of the user", say, "the host, or a device"});
  {
    const auto parts = ctx.split(d, 2, stf::halo{1});
    check_parts(failure_of<argument_error>(
                    [&] { ctx.task(all, parts.with_halo(0, everywhere))->*[](stream&, slice<const int>) {}; }),
                {"'d[0]'", "halo", "one device"});
  }
}

TEST_CASE_FIXTURE(place_fixture, "grids and composite places") {
  check_parts(failure_of<argument_error>([] { (void)exec_place::grid({}); }), {"no devices", "at least one"});
  check_parts(failure_of<argument_error>([] { (void)data_place::composite(stf::blocked(), exec_place::device(0)); }),
              {"device 0", "grid"});
  check_parts(failure_of<argument_error>([] { (void)data_place::composite(stf::cyclic(), exec_place::host()); }),
              {"host", "grid"});
  for (const int which : {2, -1, INT_MAX}) {
    const auto place = data_place::composite(far_owner{which}, exec_place::all_devices());
    check_parts(failure_of<range_error>([&] { ctx.task(d.rw(place))->*nothing; }),
                {message("owner ", which), "there are 2"});
  }
}

TEST_CASE_FIXTURE(place_fixture, "a place that the context chooses, where devices must be named") {
  check_parts(failure_of<argument_error>([] { (void)exec_place::automatic().devices(2); }),
              {"automatic()", "name a device or a grid"});
  check_parts(failure_of<argument_error>([] { (void)data_place::composite(stf::blocked(), exec_place::automatic()); }),
              {"automatic", "grid"});
  // A datum on two places, whichever the context would choose.
  for (int i = 0; i < 4; ++i)
    check_parts(failure_of<argument_error>([&] {
                  ctx.task(exec_place::automatic(), d.read(), d.rw(data_place::device(0)))
                          ->*[](stream&, slice<const int>, slice<int>) {};
                }),
                {"used twice", "affine", "device 0"});
  check_parts(
      failure_of<range_error>([&] { ctx.task(exec_place::automatic(), d.rw(data_place::device(9)))->*nothing; }),
      {"device(9)"});
  auto none = ctx.logical_data(stf::shape_of<slice<int>>(4));
  check_parts(failure_of<argument_error>([&] { ctx.task(exec_place::automatic(), none.rw())->*nothing; }),
              {"nothing has been written"});
}

TEST_CASE_FIXTURE(place_fixture, "a dimension that the data or the loop lacks") {
  const auto place = data_place::composite(stf::blocked{1}, exec_place::all_devices());
  check_parts(failure_of<argument_error>([&] { ctx.task(d.rw(place))->*nothing; }), {"dimension 1", "1 dimension"});
  for (const auto& where : {exec_place::all_devices(), exec_place::device(0), exec_place::host()})
    check_parts(failure_of<argument_error>(
                    [&] { ctx.parallel_for(stf::blocked{3}, where, d.shape(), d.rw())->*[](index_t, slice<int>) {}; }),
                {"dimension 3", "1 dimension"});
}

TEST_CASE_FIXTURE(place_fixture, "bodies of the host with data on a device") {
  for (const auto& place : {data_place::device(1), data_place::composite(stf::blocked(), exec_place::all_devices())}) {
    check_parts(failure_of<argument_error>([&] { ctx.host_launch(d.rw(place)).set_symbol("h")->*[](slice<int>) {}; }),
                {"task 'h'", "runs on the host", "leave the place out"});
    check_parts(failure_of<argument_error>(
                    [&] { ctx.parallel_for(exec_place::host(), d.shape(), d.rw(place))->*[](index_t, slice<int>) {}; }),
                {"runs on the host"});
  }
}

TEST_CASE_FIXTURE(place_fixture, "loops that reduce into more than one element") {
  const auto loop = [&](auto result) { ctx.parallel_for(stf::box(3), result)->*[](index_t, int& s) { ++s; }; };
  check_parts(failure_of<argument_error>([&] { loop(d.reduce(stf::reducer::sum())); }), {"12 elements", "has one"});
  check_parts(failure_of<argument_error>([&] { loop(d.reduce(stf::reducer::sum(), stf::no_init())); }), {"12"});
  auto none = ctx.logical_data(stf::shape_of<slice<int>>(0));
  check_parts(failure_of<argument_error>([&] { loop(none.reduce(stf::reducer::sum())); }), {"0 elements"});
}

TEST_CASE_FIXTURE(place_fixture, "a drawing that was not asked for") {
  check_parts(failure_of<argument_error>([&] { (void)ctx.dot(); }), {"no drawing", ".drawing = true"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.mermaid(); }), {"no drawing"});
}

TEST_CASE("names that would break a drawing") {
  machine m = machine::host(1);
  context ctx(m, {.drawing = true});
  ctx.task().set_symbol("a \"b\" c\\")->*[](stream&) {};
  CHECK(ctx.dot().find(R"([label="a \"b\" c\\\ndevice 0"];)") != std::string::npos);
  CHECK(ctx.mermaid().find("a #quot;b#quot; c\\<br/>") != std::string::npos);
}

}  // namespace
}  // namespace starling::test::stf_places_tests
