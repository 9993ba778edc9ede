// Exceptions that unwind past data of the user's memory, which dies before the context: tasks let go of it in time.
#include <chrono>
#include <thread>

#include "starling/stf/context.hpp"
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::stf_unwinding_tests {
namespace {

using stf::context;
using stf::data_place;
using stf::exec_place;
using stf::slice;

constexpr stf::backend_kind back_ends[] = {stf::backend_kind::stream, stf::backend_kind::graph,
                                           stf::backend_kind::persistent, stf::backend_kind::automatic};
constexpr int n = 64;

struct odd {};

// Memory that a vector might have, which shows whether it is written after its owner has gone.
class freed_memory {
 public:
  static constexpr int poison = 0x5a5a5a5a;
  freed_memory() : words_(8 * n, poison) {}
  int* take() {
    taken_ += n;
    return words_.data() + taken_ - n;
  }
  bool untouched() const { return words_ == std::vector<int>(8 * n, poison); }

 private:
  std::vector<int> words_;
  int taken_ = 0;
};

class storage {
 public:
  storage(freed_memory& of, int value) : start_(of.take()) { std::fill_n(start_, n, value); }
  storage(const storage&) = delete;
  storage& operator=(const storage&) = delete;
  ~storage() { std::fill_n(start_, n, freed_memory::poison); }
  slice<int> view() const { return slice<int>(start_, n); }

 private:
  int* start_;
};

// Slow, so that it goes on when the exception comes.
void add_one(stream& s, slice<int> x) {
  s.call([x] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    for (index_t i = 0; i < n; ++i) x(i) += 1;
  });
}

// program(context, memory) throws odd past its data, and the context goes too.
template <class F>
void check_unwound(const F& program) {
  for (const auto backend : back_ends)
    for (int n_pes = 1; n_pes <= 2; ++n_pes) {
      machine m = machine::host(n_pes);
      freed_memory memory;
      INFO("back end " << static_cast<int>(backend) << ", " << n_pes << " devices");
      const auto whole = [&] {
        context ctx(m, {.backend = backend});
        program(ctx, memory);
      };
      CHECK_THROWS_AS(whole(), odd);
      CHECK(memory.untouched());
      check_usable(m);
    }
}

TEST_CASE("the user's code throws while tasks go on") {
  check_unwound([](context& ctx, freed_memory& memory) {
    const auto last = exec_place::device(ctx.on().size() - 1);
    storage x(memory, 1), y(memory, 2), z(memory, 3);
    auto lX = ctx.logical_data(x.view());
    auto lY = ctx.logical_data(y.view());
    auto lZ = ctx.logical_data(z.view());
    ctx.task(lX.rw())->*add_one;
    // In the user's memory itself, and with a copy on its way into it.
    ctx.task(exec_place::host(), lY.rw())->*add_one;
    ctx.task(last, lZ.rw())->*add_one;
    ctx.task(exec_place::host(), lZ.rw())->*add_one;
    throw odd();
  });
}

TEST_CASE("a task throws while others go on") {
  check_unwound([](context& ctx, freed_memory& memory) {
    storage x(memory, 1), y(memory, 2);
    auto lX = ctx.logical_data(x.view());
    auto lY = ctx.logical_data(y.view());
    for (int round = 0; round < 3; ++round) {
      ctx.task(lX.rw())->*add_one;
      ctx.task(exec_place::host(), lX.read(), lY.rw())->*[](stream& s, slice<const int>, slice<int> v) {
        add_one(s, v);
      };
      ctx.fence();
    }
    ctx.task(lX.read(), lY.rw())->*[](stream&, slice<const int>, slice<int>) { throw odd(); };
  });
}

TEST_CASE("the only handle is in the task that throws") {
  check_unwound([](context& ctx, freed_memory& memory) {
    storage x(memory, 1);
    ctx.task(exec_place::host(), ctx.logical_data(x.view()).rw())->*[](stream& s, slice<int> v) {
      add_one(s, v);
      throw odd();
    };
  });
}

TEST_CASE("handles that outlive the memory, and handles that went before") {
  check_unwound([](context& ctx, freed_memory& memory) {
    std::vector<stf::logical_data<slice<int>>> all;
    storage x(memory, 1), y(memory, 2);
    all.push_back(ctx.logical_data(x.view()));
    ctx.task(all[0].write())->*[](stream& s, slice<int> v) { s.fill(v.data_handle(), 7, n * sizeof(int)); };
    {
      auto lY = ctx.logical_data(y.view());
      ctx.task(lY.write())->*[](stream& s, slice<int> v) { s.fill(v.data_handle(), 8, n * sizeof(int)); };
    }

    throw odd();
  });
}

TEST_CASE("bodies that are recorded throw") {
  check_unwound([](context& ctx, freed_memory& memory) {
    storage x(memory, 1);
    auto lX = ctx.logical_data(x.view());
    ctx.task(lX.rw())->*add_one;
    ctx.repeat(3, [&] {
      ctx.parallel_for(lX.shape(), lX.rw())->*[](index_t i, slice<int> v) { v(i) += 1; };
      storage own(memory, 2);
      {
        auto lOwn = ctx.logical_data(own.view());
        ctx.parallel_for(lOwn.shape(), lOwn.rw())->*[](index_t i, slice<int> v) { v(i) += 1; };
      }
      auto more = ctx.logical_data(own.view());
      ctx.parallel_for(lX.shape(), lX.read(), more.write())->*[](index_t i, slice<const int> v, slice<int> w) {
        w(i) = v(i);
      };
      throw odd();
    });
  });
}

TEST_CASE("data that is split, and frozen") {
  check_unwound([](context& ctx, freed_memory& memory) {
    stream s = machine(ctx.on()).new_stream(0);
    storage x(memory, 1), y(memory, 2);
    auto lX = ctx.logical_data(x.view());
    auto lY = ctx.logical_data(y.view());
    auto parts = ctx.split(lX, 3, stf::blocked(), data_place::host());
    ctx.task(parts[0].rw())->*[](stream& w, slice<int> v) { w.call([v] { v(0) += 1; }); };
    ctx.task(lY.rw())->*add_one;
    auto f = ctx.freeze(lY.rw(data_place::host()));
    add_one(s, f.get(s));
    throw odd();
  });
}

TEST_CASE("within the body of another task") {
  check_unwound([](context& ctx, freed_memory& memory) {
    std::vector<int> out(n, 1);
    auto lOut = ctx.logical_data(out);
    ctx.task(lOut.rw())->*add_one;
    ctx.task(lOut.rw())->*[&](stream& s, slice<int> v) {
      storage x(memory, 1);
      auto lX = ctx.logical_data(x.view());
      ctx.task(exec_place::host(), lX.rw())->*add_one;
      add_one(s, v);
      throw odd();
    };
  });
}

// The exception is caught where the context and other data still are.
TEST_CASE("other data keeps its value when the exception is caught before it") {
  for (const auto backend : back_ends) {
    machine m = machine::host(2);
    freed_memory memory;
    std::vector<int> out(n, 0);
    context ctx(m, {.backend = backend});
    auto lOut = ctx.logical_data(out);
    for (int round = 0; round < 3; ++round) {
      try {
        storage x(memory, 10);
        auto lX = ctx.logical_data(x.view());
        ctx.task(lX.rw())->*add_one;
        ctx.task(exec_place::device(1), lX.read(), lOut.rw())->*[](stream& s, slice<const int> v, slice<int> w) {
          s.call([v, w] {
            for (index_t i = 0; i < n; ++i) w(i) += v(i);
          });
        };
        ctx.task(exec_place::host(), lX.rw())->*add_one;
        throw odd();
      } catch (const odd&) {
        // The storage is gone.
      }
    }
    ctx.finalize();
    CHECK(out == std::vector<int>(n, 33));
    CHECK(memory.untouched());
    check_usable(m);
  }
}

// Tasks that are part of the epoch cannot be told from what the exception took with it.
TEST_CASE("an epoch that is recorded is given up when a body loses memory that it uses") {
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    machine m = machine::host(1);
    freed_memory memory;
    std::vector<int> before(n, 1), in_epoch(n, 1), unused(n, 1);
    context ctx(m, {.backend = backend});
    auto lBefore = ctx.logical_data(before);
    auto lIn = ctx.logical_data(in_epoch).set_symbol("in");
    auto lUnused = ctx.logical_data(unused);
    ctx.task(lBefore.rw())->*add_one;
    ctx.fence();
    ctx.task(lIn.rw())->*add_one;
    CHECK_THROWS_AS(
        ctx.task(lUnused.read())
                ->*
            [&](stream&, slice<const int>) {
              storage x(memory, 1);
              auto lX = ctx.logical_data(x.view());
              ctx.task(exec_place::host(), lX.rw())->*add_one;
              throw odd();
            },
        odd);
    if (backend == stf::backend_kind::graph) {
      check_parts(failure_of<stf::task_error>([&] { ctx.fence(); }), {"given up", "exception", "epoch"});
      check_parts(failure_of<stf::task_error>([&] { (void)ctx.wait(lIn); }), {"'in'", "no value"});
      ctx.task(lIn.write())->*[](stream& s, slice<int> v) { s.fill(v.data_handle(), 0, n * sizeof(int)); };
    }
    ctx.task(lBefore.rw())->*add_one;
    ctx.finalize();
    CHECK(before == std::vector<int>(n, 3));
    CHECK(in_epoch == std::vector<int>(n, backend == stf::backend_kind::graph ? 0 : 2));
    CHECK(unused == std::vector<int>(n, 1));
    CHECK(memory.untouched());
    check_usable(m);
  }
}

// What failed in tasks that an exception made a handle wait for is still said.
TEST_CASE("an exception of a host body that comes while the handle waits") {
  machine m = machine::host(1);
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph}) {
    std::vector<int> out(n, 1);
    context ctx(m, {.backend = backend});
    auto lOut = ctx.logical_data(out);
    try {
      std::vector<int> x(n, 1);
      auto lX = ctx.logical_data(x);
      ctx.host_launch(lX.rw())->*[](slice<int>) { throw argument_error("the host's own"); };
      throw odd();
    } catch (const odd&) {
      // Only of the user's code.
    }
    check_parts(failure_of<argument_error>([&] { ctx.synchronize(); }), {"the host's own"});
    ctx.finalize();
    check_usable(m);
  }
}

TEST_CASE("a context within a stream of the user") {
  machine m = machine::host(2);
  stream s = m.new_stream(0);
  freed_memory memory;
  const auto program = [&] {
    stf::stream_ctx ctx(m, s);
    storage x(memory, 1);
    auto lX = ctx.logical_data(x.view());
    ctx.task(exec_place::device(1), lX.rw())->*add_one;
    ctx.task(exec_place::host(), lX.rw())->*add_one;
    throw odd();
  };
  CHECK_THROWS_AS(program(), odd);
  CHECK_THROWS_AS((void)m.record(s, program), odd);
  s.synchronize();
  CHECK(memory.untouched());
  check_usable(m);
}

// As most programs are written; under AddressSanitizer a touch of the vectors' memory is found.
TEST_CASE("vectors that are declared after the context") {
  for (const auto backend : back_ends) {
    machine m = machine::host(2);
    const auto program = [&] {
      context ctx(m, {.backend = backend});
      std::vector<int> x(1 << 16, 1), y(1 << 16, 2);
      auto lX = ctx.logical_data(x);
      auto lY = ctx.logical_data(y);
      ctx.parallel_for(exec_place::all_devices(), lX.shape(), lX.read(), lY.rw())
              ->*[](index_t i, slice<const int> v, slice<int> w) { w(i) += v(i); };
      ctx.parallel_for(exec_place::host(), lX.shape(), lX.rw())->*[](index_t i, slice<int> v) { v(i) += 1; };
      ctx.repeat(2, [&] {
        ctx.parallel_for(exec_place::device(1), lX.shape(), lX.rw())->*[](index_t i, slice<int> v) { v(i) += 1; };
      });
      ctx.task(lX.rw())->*[](stream&, slice<int>) { throw odd(); };
      ctx.finalize();
    };
    CHECK_THROWS_AS(program(), odd);
    check_usable(m);
  }
}

}  // namespace
}  // namespace starling::test::stf_unwinding_tests
