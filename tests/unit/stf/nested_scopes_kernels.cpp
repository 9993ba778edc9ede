// Loops, branches and recordings within each other: the values are those of a host program of the same form.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/random.hpp"
#include "support/repetitions.hpp"
#include "support/test_machine.hpp"

namespace starling::test::nested_scopes_tests {
namespace {

using stf::backend_kind;
using stf::context;
using stf::exec_place;
using stf::scalar_view;
using stf::slice;

using number = std::uint32_t;
using numbers = std::vector<number>;
using number_data = stf::logical_data<slice<number>>;
using flag_data = stf::logical_data<scalar_view<int>>;

constexpr backend_kind back_ends[] = {backend_kind::stream, backend_kind::graph, backend_kind::automatic};

enum class statement_kind { add, through_temporary, repeat, loop_while, loop_while_kernel, branch, launches };

// A statement of a random program, and those within it.
struct statement {
  statement_kind kind;
  std::size_t to = 0;
  std::size_t from = 0;
  int pe = 0;
  int times = 1;
  std::vector<statement> body = {};
  std::vector<statement> otherwise = {};

  std::string text() const {
    std::string s = std::to_string(static_cast<int>(kind)) + "(" + std::to_string(to) + "," + std::to_string(from) +
                    "@" + std::to_string(pe) + "*" + std::to_string(times);
    for (const auto* inner : {&body, &otherwise}) {
      s += " {";
      for (const statement& b : *inner) s += b.text();
      s += "}";
    }
    return s + ")";
  }
};

std::vector<statement> random_statements(random& r, int depth, std::size_t data, int pes) {
  std::vector<statement> all(1 + static_cast<std::size_t>(r.below(3)));
  for (statement& s : all) {
    s.kind = static_cast<statement_kind>(r.below(depth > 0 ? 7 : 2));
    s.to = static_cast<std::size_t>(r.below(static_cast<std::int64_t>(data)));
    s.from = (s.to + 1 + static_cast<std::size_t>(r.below(static_cast<std::int64_t>(data) - 1))) % data;
    s.pe = static_cast<int>(r.below(pes));
    s.times = static_cast<int>(r.below(4));
    if (s.kind <= statement_kind::through_temporary) continue;
    s.body = random_statements(r, depth - 1, data, pes);
    if (s.kind == statement_kind::branch && r.below(2) == 0) s.otherwise = random_statements(r, depth - 1, data, pes);
  }
  return all;
}

// ---- on the host ----

void add(numbers& to, const numbers& from, number factor) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = to[i] * 3 + factor * from[i] + 1;
}

void run_on_host(const std::vector<statement>& all, std::vector<numbers>& v) {
  for (const statement& s : all) switch (s.kind) {
      case statement_kind::add:
      case statement_kind::through_temporary:
        add(v[s.to], v[s.from], static_cast<number>(s.times));
        break;
      case statement_kind::repeat:
      case statement_kind::launches:
        for (int i = 0; i < s.times; ++i) run_on_host(s.body, v);
        break;
      case statement_kind::loop_while:
      case statement_kind::loop_while_kernel:
        for (int i = 0; i <= s.times; ++i) {
          run_on_host(s.body, v);
          if (v[s.from][0] % 3 == 0) break;
        }
        break;
      case statement_kind::branch:
        run_on_host(v[s.from][0] % 2 != 0 ? s.body : s.otherwise, v);
        break;
    }
}

// ---- as tasks ----

struct program {
  context& ctx;
  std::vector<number_data>& v;

  void add(const number_data& to, const number_data& from, int pe, number factor) {
    ctx.parallel_for(exec_place::device(pe), to.shape(), from.read(), to.rw())
            ->*STARLING_KERNEL(index_t i, slice<const number> x, slice<number> y) {
      y(i) = y(i) * 3 + factor * x(i) + 1;
    };
  }

  void copy(const number_data& to, const number_data& from, int pe) {
    ctx.parallel_for(exec_place::device(pe), to.shape(), from.read(), to.write())
            ->*STARLING_KERNEL(index_t i, slice<const number> x, slice<number> y) {
      y(i) = x(i);
    };
  }

  // flag = whether the first number leaves a rest.
  void look(const flag_data& flag, const number_data& from, number divisor, int pe) {
    ctx.parallel_for(exec_place::device(pe), stf::box(1), from.read(), flag.write())
            ->*STARLING_KERNEL(index_t, slice<const number> x, scalar_view<int> f) {
      *f = x(0) % divisor != 0;
    };
  }

  void submit(const statement& s) {
    switch (s.kind) {
      case statement_kind::add:
        return add(v[s.to], v[s.from], s.pe, static_cast<number>(s.times));
      case statement_kind::through_temporary: {
        auto t = ctx.logical_data(stf::shape_of<slice<number>>(v[s.from].shape().extent(0)));
        copy(t, v[s.from], 0);
        return add(v[s.to], t, s.pe, static_cast<number>(s.times));
      }
      case statement_kind::repeat:
        return ctx.repeat(static_cast<std::uint64_t>(s.times), [&] { submit(s.body); });
      case statement_kind::launches: {
        const stf::recorded_tasks r = ctx.record([&] { submit(s.body); });
        r.launch(static_cast<std::uint64_t>(s.times / 2));
        return r.launch(static_cast<std::uint64_t>(s.times - s.times / 2));
      }
      case statement_kind::loop_while: {
        auto again = ctx.logical_data(stf::shape_of<scalar_view<int>>());
        const auto body = [&] {
          submit(s.body);
          look(again, v[s.from], 3, s.pe);
        };
        return ctx.repeat_while(again, body, static_cast<std::uint64_t>(s.times + 1));
      }
      case statement_kind::loop_while_kernel:
        ctx.repeat_while(
            exec_place::device(s.pe), static_cast<std::uint64_t>(s.times + 1), [&] { submit(s.body); },
            v[s.from].read())
                ->*STARLING_KERNEL(slice<const number> x) {
          return x(0) % 3 != 0;
        };
        return;
      case statement_kind::branch: {
        auto odd = ctx.logical_data(stf::shape_of<scalar_view<int>>());
        look(odd, v[s.from], 2, s.pe);
        const auto otherwise = [&] { submit(s.otherwise); };
        return ctx.run_if(
            odd, [&] { submit(s.body); },
            s.otherwise.empty() ? std::function<void()>() : std::function<void()>(otherwise));
      }
    }
  }

  void submit(const std::vector<statement>& all) {
    for (const statement& s : all) submit(s);
  }
};

TEST_CASE("random programs of loops, branches and recordings within each other") {
  random r(30);
  for (const auto backend : back_ends)
    for (int n_pes = 1; n_pes <= 3; ++n_pes)
      for (int i = 0; i < repetitions(12); ++i) {
        const auto m = test_machine(n_pes);
        if (!m) continue;
        const std::size_t data = 2 + static_cast<std::size_t>(r.below(3));
        std::vector<numbers> values(data, numbers(40));
        for (auto& v : values)
          for (auto& x : v) x = static_cast<number>(r.below(1000));
        std::vector<numbers> expected = values;
        const auto all = random_statements(r, 3, data, n_pes);
        std::string text;
        for (const statement& s : all) text += s.text() + "\n";
        INFO("seed " << r.seed << ", back end " << static_cast<int>(backend) << ", " << n_pes << " devices\n" << text);
        context ctx(*m, {.backend = backend, .device_memory = r.below(2) == 0 ? 0 : std::size_t{64} * 1024});
        {
          std::vector<number_data> v;
          for (auto& one : values) v.push_back(ctx.logical_data(one));
          program(ctx, v).submit(all);
        }
        ctx.finalize();
        run_on_host(all, expected);
        CHECK(values == expected);
      }
}

// Each kind of scope within each kind, with data that lives within a scope alone.
TEST_CASE("a loop's condition decides anew in each round around it") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends) {
    std::vector<int> steps(6, 0);
    int sum = 0;
    context ctx(*m, {.backend = backend});
    auto count = ctx.logical_data(steps);
    auto total = ctx.logical_data(scalar_view<int>(&sum));
    int calls = 0;
    // Round k counts to k, in a number of its own.
    auto round = ctx.logical_data(stf::shape_of<scalar_view<int>>());
    ctx.parallel_for(stf::box(1), round.write())->*STARLING_KERNEL(index_t, scalar_view<int> k) { *k = 0; };
    ctx.repeat_while(
        6,
        [&] {
          ++calls;
          auto own = ctx.logical_data(stf::shape_of<scalar_view<int>>());
          ctx.parallel_for(stf::box(1), own.write())->*STARLING_KERNEL(index_t, scalar_view<int> n) { *n = 0; };
          ctx.repeat_while(
              exec_place::device(1), 100,
              [&] {
                ++calls;
                ctx.parallel_for(exec_place::device(1), stf::box(1), own.rw(), total.rw())
                        ->*STARLING_KERNEL(index_t, scalar_view<int> n, scalar_view<int> t) {
                  ++*n;
                  ++*t;
                };
              },
              own.read(), round.read())
                  ->*STARLING_KERNEL(scalar_view<const int> n, scalar_view<const int> k) {
            return *n < *k;
          };
          ctx.parallel_for(stf::box(1), own.read(), round.rw(), count.rw())
                  ->*STARLING_KERNEL(index_t, scalar_view<const int> n, scalar_view<int> k, slice<int> c) {
            c(*k) = *n;
            ++*k;
          };
        },
        round.read())
            ->*STARLING_KERNEL(scalar_view<const int> k) {
      return *k < 5;
    };
    ctx.finalize();
    CHECK(calls == 2);
    CHECK(steps == std::vector<int>{1, 1, 2, 3, 4, 0});
    CHECK(sum == 11);
  }
}

TEST_CASE("a condition may use tokens, and is asked once after at most one round") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : {backend_kind::stream, backend_kind::graph, backend_kind::persistent}) {
    std::vector<int> x(10, 0);
    context ctx(*m, {.backend = backend});
    auto a = ctx.logical_data(x);
    const stf::token order = ctx.token();
    const auto add_one = [&] {
      ctx.parallel_for(a.shape(), a.rw())->*STARLING_KERNEL(index_t i, slice<int> v) { v(i) += 1; };
    };
    ctx.repeat_while(7, add_one, order.read(), a.read())->*STARLING_KERNEL(slice<const int> v) { return v(0) < 4; };
    CHECK(ctx.wait(a)(9) == 4);
    ctx.repeat_while(1, add_one, a.read())->*STARLING_KERNEL(slice<const int>) { return true; };
    CHECK(ctx.wait(a)(9) == 5);
    ctx.finalize();
  }
}

TEST_CASE("recordings that are launched within others, and again outside") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends) {
    numbers x(30, 1), y(30, 2), z(30, 3);
    std::vector<numbers> expected{x, y, z};
    context ctx(*m, {.backend = backend});
    std::vector<number_data> v{ctx.logical_data(x), ctx.logical_data(y), ctx.logical_data(z)};
    program p(ctx, v);
    // What the first one leaves is where the second one finds it, at each launch.
    const stf::recorded_tasks one = ctx.record([&] { p.add(v[0], v[1], 1, 1); });
    const stf::recorded_tasks two = ctx.record([&] {
      p.add(v[1], v[0], 0, 2);
      one.launch(2);
      p.add(v[2], v[0], 0, 3);
    });
    const auto run_one = [&] { add(expected[0], expected[1], 1); };
    const auto run_two = [&] {
      add(expected[1], expected[0], 2);
      run_one();
      run_one();
      add(expected[2], expected[0], 3);
    };
    two.launch(2);
    one.launch();
    p.add(v[0], v[2], 1, 5);
    two.launch();
    run_two();
    run_two();
    run_one();
    add(expected[0], expected[2], 5);
    run_two();
    CHECK(two.operations() > one.operations());
    v.clear();
    ctx.finalize();
    CHECK(std::vector<numbers>{x, y, z} == expected);
  }
}

TEST_CASE("little memory: what parts of a recording do not use gives way to the others") {
  const auto m = test_machine(2);
  if (!m) return;
  constexpr std::size_t many = 16;
  constexpr std::size_t n = 192;
  for (const auto backend : {backend_kind::stream, backend_kind::graph}) {
    std::vector<numbers> x(many, numbers(n));
    random r(71);
    for (auto& v : x)
      for (auto& one : v) one = static_cast<number>(r.below(1000));
    std::vector<numbers> expected = x;
    context ctx(*m, {.backend = backend, .device_memory = 6 * n * sizeof(number)});
    std::vector<number_data> v;
    for (auto& one : x) v.push_back(ctx.logical_data(one));
    program p(ctx, v);
    for (int round = 0; round < repetitions(40); ++round) {
      const auto a = static_cast<std::size_t>(r.below(many));
      const auto b = (a + 1 + static_cast<std::size_t>(r.below(many - 1))) % many;
      const auto c = (b + 1 + static_cast<std::size_t>(r.below(many - 1))) % many;
      if (c == a) continue;
      const int pe = static_cast<int>(r.below(2));
      const auto times = static_cast<std::uint64_t>(r.below(3));
      const stf::recorded_tasks all = ctx.record([&] {
        p.add(v[a], v[b], pe, 1);
        ctx.record([&] { p.add(v[b], v[c], pe, 2); }).launch(2);
        p.add(v[c], v[a], 1 - pe, 3);
      });
      // Before the first launch all is as it was, whatever the parts have moved.
      if (round % 4 == 0) CHECK(ctx.wait(v[a])(static_cast<index_t>(n) - 1) == expected[a][n - 1]);
      all.launch(times);
      for (std::uint64_t i = 0; i < times; ++i) {
        add(expected[a], expected[b], 1);
        add(expected[b], expected[c], 2);
        add(expected[b], expected[c], 2);
        add(expected[c], expected[a], 3);
      }
    }
    CHECK(ctx.statistics().evictions > 0);
    v.clear();
    ctx.finalize();
    CHECK(x == expected);
  }
}

}  // namespace
}  // namespace starling::test::nested_scopes_tests
