// Work on more data than a device may hold: blocks of data are gone over in turn, each time with so many sweeps over a
// block, without a cap on the device's memory and with one of a quarter of the data. One JSON object a line.
//
//   eviction [--mebibytes N] [--blocks N] [--sweeps 1,16,...] [--rounds N] [--repetitions N] [--prefetch!]
#include <chrono>

#include "command_line.hpp"
#include "json_line.hpp"
#include "starling/stf/context.hpp"

namespace st = starling;
namespace stf = starling::stf;
using st::index_t;
using stf::slice;

namespace {

struct setting {
  index_t elements;  // of a block
  int blocks, sweeps, rounds;
  std::size_t cap;  // 0: none
  bool prefetch;
};

struct zero {
  STARLING_HD void operator()(index_t i, slice<double> x) const { x(i) = 0; }
};
struct sweep {
  STARLING_HD void operator()(index_t i, slice<double> x) const { x(i) += 1; }
};

struct outcome {
  double seconds = 0;
  stf::statistics seen;
};

outcome once(const st::machine& m, const setting& s) {
  stf::context ctx(m, {.device_memory = s.cap});
  std::vector<stf::logical_data<slice<double>>> block;
  for (int i = 0; i < s.blocks; ++i) {
    block.push_back(ctx.logical_data(stf::shape_of<slice<double>>(s.elements)));
    ctx.parallel_for(block.back().shape(), block.back().write())->*zero();
  }
  const auto round = [&] {
    for (int i = 0; i < s.blocks; ++i) {
      const auto& x = block[static_cast<std::size_t>(i)];
      for (int k = 0; k < s.sweeps; ++k) {
        ctx.parallel_for(x.shape(), x.rw())->*sweep();
        if (k == 0 && s.prefetch)
          ctx.prefetch(block[static_cast<std::size_t>((i + 1) % s.blocks)], stf::data_place::device(0));
      }
    }
  };
  round();  // the host's memory for what is evicted is there
  ctx.synchronize();
  outcome o;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < s.rounds; ++k) round();
  ctx.synchronize();
  o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  o.seen = ctx.statistics();
  const int wanted = s.sweeps * (s.rounds + 1);
  int wrong = 0;
  for (const auto& x : block)
    ctx.host_launch(x.read())->*
        [&wrong, wanted](slice<const double> v) { wrong += v(0) != wanted || v(v.size() - 1) != wanted ? 1 : 0; };
  ctx.finalize();
  st::expect<st::error>(wrong == 0, "eviction: ", wrong, " blocks are not ", wanted);
  return o;
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(
      argc, argv, {"--mebibytes", "--blocks", "--sweeps", "--rounds", "--repetitions", "--prefetch!"});
  const st::machine m = st::machine::best(1);
  const bool gpu = m.kind() == st::machine_kind::cuda;
  setting s{};
  const auto mebibytes = static_cast<index_t>(given.number("--mebibytes", gpu ? 4096 : 16));
  s.blocks = static_cast<int>(given.number("--blocks", 64));
  s.elements = mebibytes * (index_t{1} << 20) / static_cast<index_t>(sizeof(double)) / s.blocks;
  s.rounds = static_cast<int>(given.number("--rounds", 3));
  s.prefetch = given.has("--prefetch");
  const int repetitions = static_cast<int>(given.number("--repetitions", 3));
  const auto quarter = static_cast<std::size_t>(mebibytes) * (std::size_t{1} << 20) / 4;
  for (const int sweeps : given.numbers("--sweeps", "1,16,64,256"))
    for (const std::size_t cap : {std::size_t{0}, quarter}) {
      s.sweeps = sweeps;
      s.cap = cap;
      std::vector<double> seconds;
      outcome o;
      for (int k = 0; k < repetitions; ++k) {
        o = once(m, s);
        seconds.push_back(o.seconds);
      }
      st::bench::json_line("eviction")
          .add("machine", name(m.kind()))
          .add("mebibytes", mebibytes)
          .add("blocks", s.blocks)
          .add("sweeps", sweeps)
          .add("rounds", s.rounds)
          .add("cap_mebibytes", static_cast<index_t>(cap >> 20))
          .add("prefetch", s.prefetch ? 1 : 0)
          .add("evictions", static_cast<index_t>(o.seen.evictions))
          .add("copied_mebibytes", static_cast<index_t>(o.seen.copied_bytes >> 20))
          .add("seconds", seconds)
          .print();
    }
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
