// A pipeline of small kernels (CPU-free execution, figure 10): a chain of so many loops over one vector, repeated. Time
// of a task when they go into streams, into a graph that the device repeats, and when they are one persistent program.
// One JSON object a line.
//
//   pipeline [--devices N] [--kernels 1,4,16] [--sizes 1000,10000,...] [--rounds N] [--repetitions N]
//            [--backends stream,graph,persistent] [--kinds same,different,together]
//
// Of several kinds: `different`, each a program of its own in a persistent context; `together`, named in one call of
// stf::rounds, for which --kernels is a multiple of 4.
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "json_line.hpp"
#include "starling/stf/rounds.hpp"

namespace st = starling;
namespace stf = starling::stf;

namespace {

using vector_data = stf::logical_data<stf::slice<double>>;

constexpr int several = 4;

// Kernels of several kinds.
template <int Kind>
struct stage {
  STARLING_HD void operator()(st::index_t i, stf::slice<double> v) const { v(i) = (1.0 + 0.01 * Kind) * v(i) + 0.5; }
};

struct setting {
  int kernels;
  st::index_t n;
  std::uint64_t rounds;
  std::string backend;
  std::string kinds;

  // Contiguous parts of the chain on each device.
  stf::exec_place where(int kernel, int devices) const { return stf::exec_place::device(kernel * devices / kernels); }
};

template <int... Kind>
void submit_together(stf::context& ctx, const vector_data& v, const setting& s, std::integer_sequence<int, Kind...>) {
  const int devices = ctx.on().size();
  for (int k = 0; k < s.kernels; k += several)
    stf::rounds(ctx, 1, stf::loop(s.where(k + Kind, devices), v.shape(), v.rw())->*stage<Kind>()...);
}

void submit(stf::context& ctx, const vector_data& v, const setting& s) {
  // Of tasks in streams rounds would make a graph.
  if (s.kinds == "together" && s.backend != "stream")
    return submit_together(ctx, v, s, std::make_integer_sequence<int, several>());
  for (int k = 0; k < s.kernels; ++k) {
    auto loop = ctx.parallel_for(s.where(k, ctx.on().size()), v.shape(), v.rw());
    switch (s.kinds == "same" ? 0 : k % several) {
      case 0:
        std::move(loop)->*stage<0>();
        break;
      case 1:
        std::move(loop)->*stage<1>();
        break;
      case 2:
        std::move(loop)->*stage<2>();
        break;
      default:
        std::move(loop)->*stage<3>();
    }
  }
}

// Microseconds per task.
double once(const st::machine& m, const setting& s) {
  std::vector<double> values(static_cast<std::size_t>(s.n), 1.0);
  stf::context ctx(m,
                   {.backend = s.backend == "persistent" ? stf::backend_kind::persistent : stf::backend_kind::stream});
  const auto v = ctx.logical_data(values);
  const auto run = [&](std::uint64_t rounds) {
    if (s.backend == "stream")
      for (std::uint64_t t = 0; t < rounds; ++t) submit(ctx, v, s);
    else
      ctx.repeat(rounds, [&] { submit(ctx, v, s); });
    ctx.synchronize();
  };
  run(2);
  // What making the graph or the program costs is the time of few rounds.
  const auto seconds = [&](std::uint64_t rounds) {
    const auto start = std::chrono::steady_clock::now();
    run(rounds);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double few = seconds(s.rounds / 10 + 1);
  const double many = seconds(s.rounds + s.rounds / 10 + 1);
  ctx.finalize();
  return (many - few) * 1e6 / (static_cast<double>(s.rounds) * s.kernels);
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(
      argc, argv, {"--devices", "--kernels", "--sizes", "--rounds", "--repetitions", "--backends", "--kinds"});
  const st::machine m = st::machine::best(static_cast<int>(given.number("--devices", 1)));
  const int repetitions = static_cast<int>(given.number("--repetitions", 5));
  for (const std::string& kinds : given.list("--kinds", "same,different"))
    for (const auto kernels : given.numbers("--kernels", "1,4,16"))
      for (const auto n : given.numbers("--sizes", "1000,10000,100000,1000000,10000000"))
        for (const std::string& backend : given.list("--backends", "stream,graph,persistent")) {
          const setting s{static_cast<int>(kernels), static_cast<st::index_t>(n),
                          static_cast<std::uint64_t>(given.number("--rounds", 200)), backend, kinds};
          st::expect<st::argument_error>(kinds != "together" || s.kernels % several == 0, "--kernels ", s.kernels,
                                         " with --kinds together; must be a multiple of ", several);
          std::vector<double> us;
          for (int k = 0; k < repetitions; ++k) us.push_back(once(m, s));
          st::bench::json_line("stf_pipeline")
              .add("machine", name(m.kind()))
              .add("devices", m.size())
              .add("kinds", kinds)
              .add("kernels", s.kernels)
              .add("n", static_cast<int>(s.n))
              .add("rounds", static_cast<int>(s.rounds))
              .add("backend", backend)
              .add("us", us)
              .print();
        }
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
