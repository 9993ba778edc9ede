// rounds: the values are those of the same loops in a plain program, and of context::repeat to the last bit, on every
// back end; all loops of a call are one program of a persistent context.
#include "starling/stf/rounds.hpp"

#include <cstring>
#include <numeric>

#include "support/random.hpp"
#include "support/repetitions.hpp"
#include "support/test_machine.hpp"
#include "support/trace_file.hpp"

namespace starling::test::rounds_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::loop;
using stf::scalar_view;
using stf::slice;

using words = std::vector<std::uint64_t>;
using word_slice = slice<std::uint64_t>;
using const_word_slice = slice<const std::uint64_t>;

constexpr backend_kind all_back_ends[] = {backend_kind::stream, backend_kind::graph, backend_kind::automatic,
                                          backend_kind::persistent};

// A kind of loop for each number.
template <int Kind>
struct mixed {
  std::uint64_t salt = 0;
  STARLING_HD std::uint64_t of(index_t i, std::uint64_t x) const {
    return mix(x, static_cast<std::uint64_t>(i), Kind, salt);
  }
  STARLING_HD void operator()(index_t i, word_slice v) const { v(i) = of(i, v(i)); }
  STARLING_HD void operator()(index_t i, const_word_slice from, word_slice to) const {
    to(i) = of(i, to(i)) + from(from.extent(0) - 1 - i);
  }
};

template <int Kind>
void in_order(const mixed<Kind>& m, const words* from, words& to) {
  const words before = from == nullptr ? words() : *from;
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = m.of(static_cast<index_t>(i), to[i]) + (from == nullptr ? 0 : before[to.size() - 1 - i]);
}

TEST_CASE("loops of four kinds over random data, places and lengths, among other tasks") {
  random r(61);
  for (int n_pes = 1; n_pes <= 3; ++n_pes)
    for (const backend_kind backend : all_back_ends)
      for (int i = 0; i < repetitions(8); ++i) {
        const auto m = test_machine(n_pes);
        if (!m) continue;
        const auto length = static_cast<std::size_t>(1 + r.below(i % 2 == 0 ? 70 : 3000));
        std::vector<words> values(3, words(length));
        for (words& one : values)
          for (std::uint64_t& x : one) x = r.next();
        std::vector<words> expected = values;
        const auto pick = [&] { return static_cast<std::size_t>(r.below(3)); };
        const std::size_t to[] = {pick(), pick(), pick(), pick()};
        const std::size_t from = (to[1] + 1) % 3, other = (to[3] + 2) % 3;
        const std::uint64_t salt = r.next();
        const auto times = static_cast<std::uint64_t>(r.below(5));
        const auto anywhere = [&] {
          const index_t at = r.below(n_pes + 1);
          return at == n_pes ? exec_place::all_devices() : exec_place::device(static_cast<int>(at));
        };
        INFO("seed " << r.seed << ", " << n_pes << " devices, backend " << static_cast<int>(backend) << ", length "
                     << length << ", " << times << " rounds");
        {
          context ctx(*m, {.backend = backend});
          std::vector<stf::logical_data<word_slice>> d;
          for (words& one : values) d.push_back(ctx.logical_data(one));
          const auto shape = d[0].shape();
          for (int again = 0; again < 2; ++again) {
            stf::rounds(
                ctx, times, loop(anywhere(), shape, d[to[0]].rw())->*mixed<0>{salt},
                loop(anywhere(), shape, d[from].read(), d[to[1]].rw())->*mixed<1>{salt},
                loop(shape, d[to[2]].rw()).set_symbol("third").set_priority(1)->*mixed<2>{salt + 1},
                // Of the same kind as the first one, with another value in it.
                loop(anywhere(), shape, d[to[2]].rw())->*mixed<0>{salt + 2},
                loop(stf::cyclic(), exec_place::all_devices(), shape, d[other].read(), d[to[3]].rw())->*mixed<3>{salt});
            ctx.parallel_for(exec_place::device(n_pes - 1), shape, d[to[0]].rw())->*mixed<5>{salt};
          }
          ctx.finalize();
        }
        for (int again = 0; again < 2; ++again) {
          for (std::uint64_t t = 0; t < times; ++t) {
            in_order(mixed<0>{salt}, nullptr, expected[to[0]]);
            in_order(mixed<1>{salt}, &expected[from], expected[to[1]]);
            in_order(mixed<2>{salt + 1}, nullptr, expected[to[2]]);
            in_order(mixed<0>{salt + 2}, nullptr, expected[to[2]]);
            in_order(mixed<3>{salt}, &expected[other], expected[to[3]]);
          }
          in_order(mixed<5>{salt}, nullptr, expected[to[0]]);
        }
        CHECK(values == expected);
      }
}

// The bodies of a relaxation.
struct sweep {
  STARLING_HD void operator()(index_t i, index_t j, slice<const double, 2> a, slice<double, 2> b, double& most,
                              double& all) const {
    b(i, j) = 0.25 * ((a(i - 1, j) + a(i + 1, j)) + (a(i, j - 1) + a(i, j + 1)));
    most = most > b(i, j) ? most : b(i, j);
    all += b(i, j);
  }
};
struct scale {
  STARLING_HD void operator()(index_t i, index_t j, slice<double, 2> a, scalar_view<const double> by) const {
    a(i, j) = a(i, j) * (1.0 + 1e-3 * *by) + 1e-4;
  }
};
struct total {
  STARLING_HD void operator()(index_t i, index_t j, slice<const double, 2> a, double& s) const { s += a(i, j); }
};

// By rounds, or by the loops in repeat; compared by bits.
std::vector<double> relaxed(const machine& m, backend_kind backend, bool together, const exec_place& where, index_t n,
                            std::uint64_t times) {
  std::vector<double> u(static_cast<std::size_t>(n * n)), results(3, 0.5);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = 1.0 / (1.0 + static_cast<double>(i * 7919 % 1009));
  std::vector<double> v = u;
  context ctx(m, {.backend = backend});
  auto lu = ctx.logical_data(slice<double, 2>(u.data(), n, n));
  auto lv = ctx.logical_data(slice<double, 2>(v.data(), n, n));
  auto sum = ctx.logical_data(scalar_view<double>(&results[0]));
  auto kept = ctx.logical_data(scalar_view<double>(&results[1]));
  auto largest = ctx.logical_data(scalar_view<double>(&results[2]));
  const auto inner = stf::inner(lu.shape(), 1);
  const auto most = [&] { return largest.reduce(stf::reducer::maxval()); };
  const auto all = [&] { return sum.reduce(stf::reducer::sum()); };
  const auto one_more = [&] { return kept.reduce(stf::reducer::sum(), stf::no_init()); };
  if (together)
    stf::rounds(ctx, times, loop(where, inner, lu.read(), lv.rw(), most(), all())->*sweep(),
                loop(where, inner, lv.read(), lu.rw(), most(), all())->*sweep(),
                loop(where, lu.shape(), lu.rw(), largest.read())->*scale(),
                loop(where, lu.shape(), lu.read(), one_more())->*total());
  else
    ctx.repeat(times, [&] {
      ctx.parallel_for(where, inner, lu.read(), lv.rw(), most(), all())->*sweep();
      ctx.parallel_for(where, inner, lv.read(), lu.rw(), most(), all())->*sweep();
      ctx.parallel_for(where, lu.shape(), lu.rw(), largest.read())->*scale();
      ctx.parallel_for(where, lu.shape(), lu.read(), one_more())->*total();
    });
  ctx.finalize();
  u.insert(u.end(), v.begin(), v.end());
  u.insert(u.end(), results.begin(), results.end());
  return u;
}

TEST_CASE("kinds of loops with reductions give the bits of repeat in stream_ctx") {
  for (int n_pes = 1; n_pes <= 3; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const index_t n : {index_t{3}, index_t{50}})
      for (const exec_place& where : {exec_place::device(n_pes - 1), exec_place::all_devices()}) {
        CAPTURE(n_pes);
        CAPTURE(n);
        const auto expected = relaxed(*m, backend_kind::stream, false, where, n, 7);
        for (const backend_kind backend : all_back_ends) {
          CAPTURE(static_cast<int>(backend));
          const auto found = relaxed(*m, backend, true, where, n, 7);
          REQUIRE(expected.size() == found.size());
          CHECK(std::memcmp(expected.data(), found.data(), found.size() * sizeof(double)) == 0);
        }
      }
  }
}

TEST_CASE("no rounds, empty shapes, tokens and bodies in place") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const backend_kind backend : all_back_ends) {
    CAPTURE(static_cast<int>(backend));
    std::vector<int> x(300, 1), y(20, 2);
    context ctx(*m, {.backend = backend});
    auto a = ctx.logical_data(x);
    auto b = ctx.logical_data(y);
    auto order = ctx.token();
    const auto all = [&](std::uint64_t times) {
      stf::rounds(
          ctx, times,
          loop(exec_place::device(1), a.shape(), a.rw(), order.rw())
                  ->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) += static_cast<int>(i); },
          loop(stf::box(0), a.rw())->*STARLING_KERNEL(index_t, slice<int> v) { v(0) = -1; },
          loop(stf::box(4, 5), b.rw(), a.read(), order.read())
                  ->*STARLING_KERNEL(index_t i, index_t j, slice<int> v,
                                     slice<const int> w) { v(5 * i + j) += w(i * j); });
    };
    all(0);
    all(3);
    // Nothing to do at all.
    stf::rounds(ctx, 5, loop(stf::box(0), a.rw())->*STARLING_KERNEL(index_t, slice<int> v) { v(0) = -1; });
    ctx.finalize();
    for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(x[i] == 1 + 3 * static_cast<int>(i));
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 5; ++j) REQUIRE(y[static_cast<std::size_t>(5 * i + j)] == 2 + 3 + 6 * i * j);
  }
}

struct twice {
  STARLING_HD void operator()(index_t i, word_slice v) const { v(i) = 2 * v(i) + static_cast<std::uint64_t>(i); }
};
struct thrice {
  STARLING_HD void operator()(index_t i, word_slice v) const { v(i) = 3 * v(i) + 1; }
};

TEST_CASE("as a part of what is repeated and recorded") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const backend_kind backend : all_back_ends) {
    CAPTURE(static_cast<int>(backend));
    words x(500);
    std::iota(x.begin(), x.end(), 1u);
    words expected = x;
    context ctx(*m, {.backend = backend});
    auto a = ctx.logical_data(x);
    const auto step = [&] {
      stf::rounds(ctx, 2, loop(a.shape(), a.rw())->*twice(), loop(a.shape(), a.rw())->*thrice());
      ctx.parallel_for(a.shape(), a.rw())->*thrice();
    };
    ctx.repeat(3, step);
    const stf::recorded_tasks recorded = ctx.record(step);
    recorded.launch(2);
    ctx.finalize();
    for (std::size_t i = 0; i < x.size(); ++i)
      for (int t = 0; t < 5; ++t) {
        for (int k = 0; k < 2; ++k) expected[i] = 3 * (2 * expected[i] + i) + 1;
        expected[i] = 3 * expected[i] + 1;
      }
    CHECK(x == expected);
  }
}

TEST_CASE("all loops of a call are one program of a persistent context") {
  auto m = test_machine(1);
  if (!m) return;
  words x(2000, 3), y(2000, 5);
  const auto programs_of = [&](bool together) {
    const trace_file t = traced(*m, [&] {
      stf::persistent_ctx ctx(*m);
      auto a = ctx.logical_data(x);
      auto b = ctx.logical_data(y);
      if (together)
        stf::rounds(ctx, 3, loop(a.shape(), a.rw())->*twice(), loop(a.shape(), a.rw())->*thrice(),
                    loop(stf::box(2000), a.read(), b.rw())->*mixed<0>{1}, loop(b.shape(), b.rw())->*twice());
      else
        ctx.repeat(3, [&] {
          ctx.parallel_for(a.shape(), a.rw())->*twice();
          ctx.parallel_for(a.shape(), a.rw())->*thrice();
          ctx.parallel_for(stf::box(2000), a.read(), b.rw())->*mixed<0>{1};
          ctx.parallel_for(b.shape(), b.rw())->*twice();
        });
      ctx.finalize();
    });
    return t.programs.size();
  };
  CHECK(programs_of(true) == 1);
  const words x_after = x, y_after = y;
  x.assign(x.size(), 3);
  y.assign(y.size(), 5);
  CHECK(programs_of(false) == 3);
  CHECK(x == x_after);
  CHECK(y == y_after);
}

struct with_block {
  STARLING_HD void operator()(block&) const {}
};
struct with_other {
  int of = 0;
  STARLING_HD void operator()(block&) const {}
};
struct alone {
  STARLING_HD void operator()(block&) const {}
};

TEST_CASE("kernels of a list are one program, each once") {
  using list = stf::joined_kernels<with_block, stf::kernel_list<with_other, with_block>, stf::kernel_list<with_other>>;
  static_assert(std::is_same_v<list, stf::kernel_list<with_block, with_other>>);
  const stf::erased_kernel first = stf::erase_kernel<list>(with_block());
  const stf::erased_kernel second = stf::erase_kernel<list>(with_other{4});
  CHECK((first.program == second.program));
  CHECK(first.kind == 0);
  CHECK(second.kind == 1);
  const stf::erased_kernel own = stf::erase_kernel<list>(alone());
  CHECK((own.program != first.program));
  CHECK((own.program == stf::erase_kernel(alone()).program));
  CHECK(own.kind == 0);
  CHECK((stf::erase_kernel(with_block()).program != first.program));

  const stf::logical_data<word_slice> none;
  const auto a = loop(stf::box(3), none.rw())->*twice();
  const auto b = loop(exec_place::device(1), stf::box(7), none.rw())->*twice();
  const auto c = loop(stf::box(3), none.rw())->*thrice();
  static_assert(std::is_same_v<decltype(a.kernels()), decltype(b.kernels())>);
  static_assert(!std::is_same_v<decltype(a.kernels()), decltype(c.kernels())>);
}

}  // namespace
}  // namespace starling::test::rounds_tests
