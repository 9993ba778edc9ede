// Time per step of the stencil variants: 5 points in 2D, 7 in 3D, float32, fixed edges, split along the first axis.
// Prints one JSON object a line.
//
//   steps [devices] [repetitions] [longest seconds of one run] [variant,...] [domain,...] [threads]
//         [bytes on chip] [blocks for faces alone, -1: chosen] [largest face that travels as packets, bytes]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "stencil/solver.hpp"

namespace st = starling;
namespace sten = starling::stencil;

namespace {

// Whether a list with commas names it; an empty one names everything.
bool names(const std::string& list, const std::string& name) {
  return list.empty() || ("," + list + ",").find("," + name + ",") != std::string::npos;
}

struct domain {
  const char* name;
  std::vector<st::index_t> shape;
};

std::vector<float> random_cells(const std::vector<st::index_t>& shape) {
  std::size_t n = 1;
  for (const st::index_t extent : shape) n *= static_cast<std::size_t>(extent);
  std::minstd_rand draw(1);
  std::vector<float> u(n);
  for (float& x : u) x = static_cast<float>(draw()) / static_cast<float>(std::minstd_rand::max());
  return u;
}

// As many steps as last about `seconds`, found by doubling.
st::index_t steps_for(sten::solver<float>& s, sten::run_options o, double seconds) {
  for (o.steps = 10;; o.steps *= 2) {
    const double took = s.advance(o).seconds;
    if (took > seconds / 4 || o.steps >= 1 << 17)
      return std::max<st::index_t>(10, static_cast<st::index_t>(static_cast<double>(o.steps) * seconds / took));
  }
}

void measure(sten::solver<float>& s, const domain& d, sten::run_options o, int repetitions, double seconds) {
  o.steps = std::min<st::index_t>(steps_for(s, o, seconds), 100000);
  sten::run_result r;
  std::printf(
      "{\"what\": \"stencil\", \"machine\": \"%s\", \"devices\": %d, \"domain\": \"%s\", \"variant\": \"%s\", "
      "\"compute\": %s, \"steps\": %ld, \"us\": [",
      name(s.device().kind()), s.device().size(), d.name, sten::name(o.how), o.compute ? "true" : "false",
      static_cast<long>(o.steps));
  for (int i = 0; i < repetitions; ++i) {
    r = s.advance(o);
    std::printf("%s%.4f", i > 0 ? ", " : "", r.seconds / static_cast<double>(o.steps) * 1e6);
  }
  std::printf("], \"blocks\": %d, \"threads\": %d, \"depth\": %d, \"ran\": \"%s\"}\n", r.blocks, r.threads, r.depth,
              sten::name(r.how));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  const int devices = argc > 1 ? std::atoi(argv[1]) : 0;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 0.2;
  const std::string wanted_variants = argc > 4 ? argv[4] : "";
  const std::string wanted_domains = argc > 5 ? argv[5] : "";
  const int threads = argc > 6 ? std::atoi(argv[6]) : 0;
  const std::size_t on_chip_bytes = argc > 7 ? std::strtoul(argv[7], nullptr, 10) : 0;
  const int face_blocks = argc > 8 ? std::atoi(argv[8]) : -1;
  const std::size_t packet_bytes = argc > 9 ? std::strtoul(argv[9], nullptr, 10) : sten::run_options{}.packet_bytes;
  st::machine m = st::machine::best(devices);
  std::vector<domain> domains = {{"256^2", {256, 256}}, {"2048^2", {2048, 2048}}};
  if (m.kind() == st::machine_kind::cuda) {
    domains.push_back({"4096^2", {4096, 4096}});
    domains.push_back({"8192^2", {8192, 8192}});
    domains.push_back({"16384^2", {16384, 16384}});
    domains.push_back({"256^3", {256, 256, 256}});
    domains.push_back({"512^3", {512, 512, 512}});
  } else {
    domains.push_back({"64^3", {64, 64, 64}});
  }
  for (const domain& d : domains) {
    if (!names(wanted_domains, d.name)) continue;
    const std::vector<float> u = random_cells(d.shape);
    sten::problem<float> p;
    p.shape = d.shape;
    p.coefficients = sten::jacobi_coefficients<float>(static_cast<int>(d.shape.size()));
    sten::solver<float> s(m, p);
    s.load(u.data());
    for (const auto how :
         {sten::variant::copy, sten::variant::overlap, sten::variant::p2p, sten::variant::graph,
          sten::variant::cpu_free, sten::variant::resident, sten::variant::temporal, sten::variant::automatic}) {
      if (!names(wanted_variants, sten::name(how))) continue;
      for (const bool compute : {true, false})
        measure(s, d,
                {.how = how,
                 .threads = threads,
                 .face_blocks = face_blocks,
                 .packet_bytes = packet_bytes,
                 .on_chip_bytes = on_chip_bytes,
                 .compute = compute},
                repetitions, seconds);
    }
  }
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "steps: %s\n", e.what());
  return 1;
}
