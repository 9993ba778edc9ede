// Sum of n doubles on all devices (CUDASTF, table II): `launch` is the algorithm of its figure 6, a tree in each block
// and one addition per block; `parallel_for` is a loop with a reduction, whose additions have a fixed order. One JSON
// object a line.
//
//   reduction [--devices N] [--elements 65536,1048576,...] [--ways launch,parallel_for] [--repetitions N]
#include <chrono>
#include <cmath>

#include "command_line.hpp"
#include "json_line.hpp"
#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using st::index_t;
using stf::slice;

namespace {

using array = stf::logical_data<slice<double>>;
using number = stf::logical_data<stf::scalar_view<double>>;

constexpr int threads = 256;

struct ones {
  STARLING_HD void operator()(index_t i, slice<double> x) const { x(i) = 1; }
};

template <class Spec>
struct tree {
  STARLING_HD void operator()(stf::thread_hierarchy<Spec> th, slice<const double> x,
                              stf::scalar_view<double> sum) const {
    double local_sum = 0;
    for (auto [i] : th.apply_partition(stf::shape(x))) local_sum += x(i);
    const auto ti = th.inner();
    const slice<double> block_sum = ti.template storage<double>(0);
    block_sum(ti.rank()) = local_sum;
    ti.sync();
    for (index_t s = ti.size() / 2; s > 0; s /= 2) {
      if (ti.rank() < s) block_sum(ti.rank()) += block_sum(ti.rank() + s);
      ti.sync();
    }
    if (ti.rank() == 0) cuda::atomic_ref<double, cuda::thread_scope_system>(*sum).fetch_add(block_sum(0));
  }
};

struct add {
  STARLING_HD void operator()(index_t i, slice<const double> x, double& sum) const { sum += x(i); }
};

void sum_once(stf::context& ctx, const std::string& way, const array& x, const number& sum) {
  const auto everywhere = stf::exec_place::all_devices();
  if (way == "launch") {
    const auto spec = stf::par(stf::con<threads>(stf::hw_scope::thread, stf::mem(threads * sizeof(double))));
    ctx.launch(spec, everywhere, x.read(), sum.rw())->*tree<std::remove_const_t<decltype(spec)>>();
  } else {
    ctx.parallel_for(everywhere, x.shape(), x.read(), sum.reduce(stf::reducer::sum()))->*add();
  }
}

// Seconds for one sum, of `times` sums one after the other.
double once(const st::machine& m, const std::string& way, index_t n, int times) {
  double result = 0;
  stf::context ctx(m);
  auto x = ctx.logical_data(stf::shape_of<slice<double>>(n));
  auto sum = ctx.logical_data(stf::scalar_view<double>(&result));
  ctx.parallel_for(stf::exec_place::all_devices(), x.shape(), x.write())->*ones();
  sum_once(ctx, way, x, sum);
  ctx.synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < times; ++k) sum_once(ctx, way, x, sum);
  ctx.synchronize();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
  ctx.finalize();
  // The launch adds to what is there, the reduction starts anew.
  const double expected = static_cast<double>(n) * (way == "launch" ? times + 1 : 1);
  st::expect<st::error>(std::abs(result - expected) <= 1e-9 * expected, "reduction: ", result, " instead of ",
                        expected);
  return seconds;
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv, {"--devices", "--elements", "--ways", "--repetitions"});
  const st::machine m = st::machine::best(static_cast<int>(given.number("--devices", 1)));
  const bool gpus = m.kind() == st::machine_kind::cuda;
  const int repetitions = static_cast<int>(given.number("--repetitions", 5));
  for (const int n :
       given.numbers("--elements", gpus ? "65536,1048576,16777216,268435456,1073741824" : "65536,1048576"))
    for (const std::string& way : given.list("--ways", "launch,parallel_for")) {
      const int times = n > 100'000'000 ? 20 : 100;
      std::vector<double> us;
      std::vector<double> rate;
      for (int k = 0; k < repetitions; ++k) {
        us.push_back(1e6 * once(m, way, n, times));
        rate.push_back(8e-3 * n / us.back());
      }
      st::bench::json_line("reduction")
          .add("machine", name(m.kind()))
          .add("devices", m.size())
          .add("elements", n)
          .add("way", way)
          .add("us", us)
          .add("gb_per_s", rate)
          .print();
    }
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
