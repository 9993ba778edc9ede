// Data that is wiped when its memory is freed and never moved away, and data whose last use a task names.
#include <optional>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/test_machine.hpp"

namespace starling::test::secret_data_tests {
namespace {

using stf::context;
using stf::exec_place;
using stf::slice;
using data = stf::logical_data<slice<long>>;

constexpr index_t n = 512;

void set_all(stream& s, slice<long> x, long value) {
  s.launch(1, STARLING_KERNEL(block & b) { b.for_each(x.extent(0), [&](index_t i) { x(i) = value; }); });
}

std::vector<stf::backend_kind> back_ends() {
  return {stf::backend_kind::stream, stf::backend_kind::graph, stf::backend_kind::automatic};
}

data new_data(context& ctx, bool secret = false) {
  data d = ctx.logical_data(stf::shape_of<slice<long>>(n));
  if (secret) d.set_secret();
  return d;
}

// What data that comes after has in its memory before anything is written to it; its address.
const long* find_left(context& ctx, const exec_place& where, data& fresh, data& found) {
  const long* address = nullptr;
  ctx.task(where, fresh.write(), found.write())->*[&](stream& s, slice<long> v, slice<long> w) {
    address = v.data_handle();
    s.copy(w.data_handle(), v.data_handle(), n * sizeof(long));
  };
  return address;
}

TEST_CASE("the memory of secret data is zero for who has it next") {
  for (int n_pes = 1; n_pes <= 2; ++n_pes) {
    const auto m = test_machine(n_pes);
    if (!m) return;
    for (const auto backend : back_ends())
      for (const bool on_host : {false, true})
        for (const bool secret : {false, true}) {
          context ctx(*m, {.backend = backend});
          const exec_place where = exec_place::device(n_pes - 1);
          auto found = new_data(ctx);
          ctx.task(where, found.write())->*[](stream& s, slice<long> v) { set_all(s, v, 1); };
          std::optional<data> d = new_data(ctx, secret);
          const long* before = nullptr;
          ctx.task(where, d->write())->*[&](stream& s, slice<long> v) {
            before = v.data_handle();
            set_all(s, v, 7);
          };
          // A copy elsewhere is a copy too.
          if (on_host) ctx.host_launch(d->read())->*[](slice<const long>) {};
          d.reset();
          ctx.fence();
          auto fresh = new_data(ctx);
          const long* after = find_left(ctx, where, fresh, found);
          if (before == after) CHECK(ctx.wait(found)(n - 1) == (secret ? 0 : 7));
          if (secret && !on_gpus()) CHECK(before == after);  // or nothing would be seen
          ctx.finalize();
        }
  }
}

TEST_CASE("secret data that tasks add to, and parts of it") {
  const auto m = test_machine(2);
  if (!m) return;
  for (const auto backend : back_ends()) {
    context ctx(*m, {.backend = backend});
    std::vector<long> X(n, 1);
    auto x = ctx.logical_data(X).set_secret();
    for (int i = 0; i < 4; ++i)
      ctx.task(exec_place::device(i % 2), x.reduce(stf::reducer::sum()))->*[](stream& s, slice<long> v) {
        set_all(s, v, 2);
      };
    auto parts = ctx.split(x, 3);
    for (index_t i = 0; i < parts.size(); ++i)
      ctx.task(exec_place::device(static_cast<int>(i % 2)), parts[i].rw())->*[](stream& s, slice<long> v) {
        s.launch(1, STARLING_KERNEL(block & b) { b.for_each(v.extent(0), [&](index_t k) { v(k) *= 10; }); });
      };
    ctx.join(parts);
    ctx.repeat(3, [&] {
      ctx.task(x.rw())->*[](stream& s, slice<long> v) {
        s.launch(1, STARLING_KERNEL(block & b) { b.for_each(v.extent(0), [&](index_t k) { v(k) += 1; }); });
      };
    });
    ctx.finalize();
    // The user's memory has the value: it is the user's to wipe.
    CHECK(X == std::vector<long>(n, 93));
  }
}

TEST_CASE("secret data that a recorded body makes") {
  const auto m = test_machine(1);
  if (!m) return;
  context ctx(*m);
  auto found = new_data(ctx);
  ctx.repeat(3, [&] {
    {
      auto d = new_data(ctx, true);
      ctx.task(d.write())->*[](stream& s, slice<long> v) { set_all(s, v, 7); };
    }
    auto fresh = new_data(ctx);
    (void)find_left(ctx, exec_place::device(0), fresh, found);
  });
  for (index_t i = 0; i < n; ++i) CHECK(ctx.wait(found)(i) != 7);
  ctx.finalize();
}

TEST_CASE("a full device keeps its secrets") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    context ctx(*m, {.backend = backend, .device_memory = 4 * n * sizeof(long)});
    std::optional<data> d = new_data(ctx, true);
    const long* there = nullptr;
    ctx.task(d->write())->*[&](stream& s, slice<long> v) {
      there = v.data_handle();
      set_all(s, v, 5);
    };
    std::vector<data> others;
    for (int round = 0; round < 2; ++round)
      for (std::size_t i = 0; i < 6; ++i) {
        if (round == 0) others.push_back(new_data(ctx));
        ctx.task(others[i].write())->*[i](stream& s, slice<long> v) { set_all(s, v, static_cast<long>(i)); };
        ctx.fence();
      }
    ctx.task(d->read())->*[&](stream&, slice<const long> v) { CHECK(v.data_handle() == there); };
    CHECK(ctx.statistics().evictions > 0);
    for (std::size_t i = 0; i < 6; ++i) CHECK(ctx.wait(others[i])(0) == static_cast<long>(i));
    ctx.finalize();
  }
}

TEST_CASE("what has had its last use gives way first, without a copy where there is a choice") {
  const auto m = test_machine(1);
  if (!m) return;
  for (const bool named : {false, true}) {
    context ctx(*m, {.device_memory = 2 * n * sizeof(long)});
    std::vector<long> X(n, 1);
    auto x = ctx.logical_data(X);
    auto a = new_data(ctx);
    auto b = new_data(ctx);
    const auto touch = [](stream&, slice<const long>) {};
    ctx.task(a.write())->*[](stream& s, slice<long> v) { set_all(s, v, 3); };
    // Used later than a, but no more.
    ctx.task(named ? x.read().last_use() : x.read())->*touch;
    ctx.task(b.write())->*[](stream& s, slice<long> v) { set_all(s, v, 4); };
    // Without the name a has moved to the host.
    CHECK(ctx.statistics().evictions == (named ? 0 : 1));
    ctx.task(a.read())->*touch;
    CHECK(ctx.wait(a)(0) == 3);
    CHECK(ctx.wait(b)(0) == 4);
    CHECK(ctx.wait(x)(0) == 1);  // it may be used all the same
    ctx.task(x.rw().last_use())->*[](stream& s, slice<long> v) { set_all(s, v, 9); };
    ctx.finalize();
    CHECK(X == std::vector<long>(n, 9));
  }
}

}  // namespace
}  // namespace starling::test::secret_data_tests
