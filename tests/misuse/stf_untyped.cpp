// Untyped data with what no data has, and with types that it does not hold.
#include "starling/stf/untyped.hpp"

#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_untyped_tests {
namespace {

using stf::context;
using stf::logical_data;
using stf::slice;
using stf::untyped;

void nothing(stream&, untyped) {}

TEST_CASE("bytes that are no data") {
  machine m = machine::host(1);
  alignas(16) std::byte memory[32] = {};
  context ctx(m);
  for (const std::size_t alignment : {std::size_t{0}, std::size_t{12}, std::size_t{512}}) {
    check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(untyped(memory, 16, alignment)); }),
                {"an alignment of " + std::to_string(alignment), "power of two up to 256"});
    check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data_of<untyped>({16, alignment}); }),
                {"an alignment of " + std::to_string(alignment)});
  }
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(untyped(memory + 4, 16, 8)); }),
              {"no multiple of 8"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data(untyped(nullptr, 16)); }),
              {"null pointer", "16 bytes"});
  check_parts(failure_of<argument_error>([&] { (void)ctx.logical_data_of<untyped>({~std::size_t{0}, 1}); }),
              {"18446744073709551615 bytes", "2^63"});
  auto none = ctx.logical_data_of<untyped>({0, 1});
  ctx.task(none.rw())->*nothing;
  ctx.finalize();
  check_usable(m);
}

TEST_CASE("types that the bytes do not have") {
  machine m = machine::host(1);
  std::vector<double> x(4, 2.5);
  context ctx(m);
  auto u = ctx.logical_data(untyped(x.data(), 32, alignof(double))).set_symbol("u");
  auto loose = ctx.logical_data_of<untyped>({32, 4}).set_symbol("loose");
  using numbers = slice<double>;
  check_parts(failure_of<argument_error>([&] { (void)stf::typed<numbers>(u, stf::shape_of<numbers>(3)); }),
              {"'u'", "has 32 bytes", "24"});
  check_parts(failure_of<argument_error>([&] { (void)stf::typed<numbers>(u, stf::shape_of<numbers>(5)); }),
              {"'u'", "has 32 bytes", "40"});
  check_parts(failure_of<argument_error>([&] { (void)stf::typed<numbers>(loose, stf::shape_of<numbers>(4)); }),
              {"'loose'", "aligned to 4", "need 8"});
  check_parts(failure_of<argument_error>(
                  [&] { (void)stf::typed<numbers>(logical_data<untyped>(), stf::shape_of<numbers>(0)); }),
              {"that is none", "context::logical_data"});
  check_parts(failure_of<argument_error>([&] { (void)stf::untyped_of(logical_data<numbers>()); }), {"that is none"});
  struct three {
    char c[3];
  };
  check_parts(failure_of<argument_error>(
                  [&] { ctx.task(u.read())->*[](stream&, stf::const_untyped v) { (void)v.as<three>(); }; }),
              {"32 bytes", "elements of 3 bytes", "whole elements"});
  check_parts(
      failure_of<argument_error>([&] { (void)untyped(reinterpret_cast<std::byte*>(x.data()) + 4, 8).as<double>(); }),
      {"multiples of 8"});
  // Other handles change nothing of whose the data is.
  auto typed = stf::typed<numbers>(u, stf::shape_of<numbers>(4));
  context other(m);
  check_parts(failure_of<argument_error>([&] { other.task(typed.rw())->*[](stream&, numbers) {}; }),
              {"'u'", "another context"});
  check_parts(failure_of<argument_error>([&] {
                ctx.task(stf::exec_place::device(0), u.read(), typed.rw()).set_symbol("both")->*
                    [](stream&, stf::const_untyped, numbers) { throw argument_error("its own"); };
              }),
              {"its own"});
  check_parts(failure_of<stf::task_error>([&] { ctx.task(u.read())->*[](stream&, stf::const_untyped) {}; }),
              {"'u'", "'both'"});
  ctx.task(u.write())->*[](stream& s, untyped v) {
    s.call([v] {
      for (index_t i = 0; i < 4; ++i) v.as<double>()(i) = 7;
    });
  };
  ctx.finalize();
  CHECK(x == std::vector<double>(4, 7));
  check_usable(m);
}

}  // namespace
}  // namespace starling::test::stf_untyped_tests
