// Time per step of the stencil variants, with and without computation: 5 points in 2D, 7 in 3D, fixed edges, split
// along the first axis. Prints one JSON object a line; what fails is a line with "error", and the rest goes on.
//
//   steps [--devices 1,2,4] [--domains 256x256,64x64x64,..] [--types float32,float64] [--variants copy,..]
//         [--depths 1,2,..] [--computing] [--tune] [--repetitions 5] [--seconds 0.1] [--threads N] [--blocks N]
//         [--on-chip BYTES] [--boundary-blocks N|all] [--packets BYTES]
//
// --types: float32 without it. --computing: with computation alone. --tune: `auto` goes by costs that are measured
// first, as `starling tune` does, and kept where it keeps them. --boundary-blocks all: every block does the boundary
// too.
// --seconds: about how long a repetition lasts. --depths: of `temporal`, each in turn, instead of what is chosen.
// --threads, --blocks, --on-chip, --boundary-blocks, --packets: as run_options says.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "json_line.hpp"
#include "stencil/plan/cost_file.hpp"
#include "stencil/plan/tune.hpp"
#include "stencil/solver.hpp"

namespace st = starling;
namespace sten = starling::stencil;
using starling::bench::json_line;

namespace {

struct domain {
  std::string name;
  std::vector<st::index_t> shape;
};

struct plan {
  std::vector<int> devices;
  std::vector<domain> domains;
  std::vector<std::string> types;
  std::vector<sten::variant> variants;
  std::vector<int> depths;  // 0: chosen
  bool bare = true;         // without computation too
  bool tune = false;
  int repetitions = 5;
  double seconds = 0.1;
  sten::run_options options;
};

// "8192x8192" or "256x256x256".
domain domain_named(const std::string& text) {
  domain d{text, {}};
  const char* at = text.data();
  const char* const end = at + text.size();
  bool good = true;
  while (good) {
    st::index_t extent = 0;
    const auto read = std::from_chars(at, end, extent);
    good = read.ec == std::errc{} && extent > 0;
    d.shape.push_back(extent);
    at = read.ptr;
    if (at == end || *at != 'x') break;
    ++at;
  }
  good = good && at == end && (d.shape.size() == 2 || d.shape.size() == 3);
  st::expect<st::argument_error>(good, "--domains ", text,
                                 "; must be two or three extents above 0 with x between, as 8192x8192");
  return d;
}

// Of the largest domains there are too many to draw each: a million numbers again and again.
template <class T>
std::vector<T> random_cells(const std::vector<st::index_t>& shape) {
  std::size_t n = 1;
  for (const st::index_t extent : shape) n *= static_cast<std::size_t>(extent);
  const std::size_t drawn = std::min<std::size_t>(n, 1'000'003);
  std::minstd_rand draw(1);
  std::vector<T> u(n);
  for (std::size_t i = 0; i < drawn; ++i) u[i] = static_cast<T>(draw()) / static_cast<T>(std::minstd_rand::max());
  for (std::size_t i = drawn; i < n; i += drawn) std::copy_n(u.begin(), std::min(drawn, n - i), u.data() + i);
  return u;
}

// As many steps as last about `seconds`, found by doubling.
template <class T>
st::index_t steps_for(sten::solver<T>& s, sten::run_options o, double seconds) {
  constexpr st::index_t fewest = 10;
  constexpr st::index_t most = 100'000;
  for (o.steps = fewest;; o.steps *= 2) {
    const double took = s.advance(o).seconds;
    if (took > seconds / 4 || o.steps >= most)
      return std::clamp(static_cast<st::index_t>(static_cast<double>(o.steps) * seconds / took), fewest, most);
  }
}

template <class T>
constexpr const char* type_name = sizeof(T) == 4 ? "float32" : "float64";

template <class T>
json_line described(const st::machine& m, const domain& d, const sten::run_options& o) {
  json_line line("stencil");
  line.add("machine", name(m.kind())).add("devices", m.size()).add("domain", d.name).add("type", type_name<T>);
  return line.add("variant", sten::name(o.how)).add("compute", o.compute);
}

// What `auto` expected of a step, and what it would have taken by the costs that are built in.
template <class T>
void add_choice(json_line& line, sten::solver<T>& s, const sten::run_options& o) {
  const st::machine& m = s.device();
  line.add("expected", s.plan(o).us);
  const sten::step_costs costs = sten::built_in_costs(m.kind());
  line.add("built_in", sten::name(sten::choose_variant<T>(s.shape(), sten::limits_of(m), costs, o).how));
}

template <class T>
void measure(sten::solver<T>& s, const domain& d, sten::run_options o, const plan& p) {
  o.steps = steps_for(s, o, p.seconds);
  sten::run_result r;
  std::vector<double> us;
  for (int i = 0; i < p.repetitions; ++i) {
    r = s.advance(o);
    us.push_back(r.seconds / static_cast<double>(o.steps) * 1e6);
  }
  json_line line = described<T>(s.device(), d, o);
  line.add("steps", o.steps).add("us", us).add("blocks", r.blocks).add("threads", r.threads).add("depth", r.depth);
  line.add("ran", sten::name(r.how));
  if (o.how == sten::variant::automatic) add_choice(line, s, o);
  line.print();
}

// A failure becomes a line. It costs the cells, and who cannot load them again is not worth going on with.
template <class T>
void attempt(sten::solver<T>& s, const std::vector<T>& u, const domain& d, const sten::run_options& o, const plan& p) {
  try {
    measure(s, d, o, p);
  } catch (const st::error& e) {
    described<T>(s.device(), d, o).add("error", e.what()).print();
    s.load(u.data());
  }
}

// None, and a line, where the domain is too large for the machine or cannot be split among it.
template <class T>
std::optional<sten::solver<T>> solver_of(const st::machine& m, const domain& d) {
  sten::problem<T> problem;
  problem.shape = d.shape;
  problem.coefficients = sten::jacobi_coefficients<T>(static_cast<int>(d.shape.size()));
  const json_line failed = json_line("stencil").add("devices", m.size()).add("domain", d.name);
  try {
    return sten::solver<T>(m, problem);
  } catch (const st::memory_error& e) {
    json_line(failed).add("error", e.what()).print();
  } catch (const st::argument_error& e) {
    json_line(failed).add("error", e.what()).print();
  }
  return std::nullopt;
}

template <class T>
void measure_domain(const st::machine& m, const domain& d, const plan& p) {
  std::optional<sten::solver<T>> s = solver_of<T>(m, d);
  if (!s) return;
  const std::vector<T> u = random_cells<T>(d.shape);
  s->load(u.data());
  sten::run_options o = p.options;
  for (const sten::variant how : p.variants) {
    o.how = how;
    for (const int depth : how == sten::variant::temporal ? p.depths : std::vector<int>{0}) {
      o.depth = depth;
      for (const bool compute : {true, false}) {
        if (!compute && !p.bare) continue;
        o.compute = compute;
        attempt(*s, u, d, o, p);
      }
    }
  }
}

// Measures the costs, keeps them where `auto` finds them, and prints them.
void tune(const st::machine& m) {
  const sten::step_costs costs = sten::tune(m);
  sten::write_costs(sten::cost_file(m.kind(), m.device(0).pes_on_gpu), costs, sten::tuned_device(m));
  json_line line("costs");
  line.add("devices", m.size());
  for (const auto& [name, value] : sten::by_name(costs)) line.add(name.c_str(), value);
  line.print();
}

plan planned(const st::bench::command_line& given) {
  const int gpus = st::machine::probe_cuda().devices;
  plan p;
  p.devices = given.numbers("--devices", gpus == 0 || gpus >= 4 ? "1,2,4" : gpus >= 2 ? "1,2" : "1");
  const char* domains = gpus == 0 ? "64x64,256x256,24x24x24" : "256x256,2048x2048,8192x8192,256x256x256,512x512x512";
  for (const std::string& text : given.list("--domains", domains)) p.domains.push_back(domain_named(text));
  for (const std::string& text : given.list("--variants", "copy,overlap,p2p,graph,cpu_free,resident,temporal"))
    p.variants.push_back(sten::variant_named(text));
  p.types = given.list("--types", "float32");
  for (const std::string& type : p.types)
    st::expect<st::argument_error>(type == "float32" || type == "float64", "--types ", type,
                                   "; must be float32 or float64");
  p.bare = !given.has("--computing");
  p.tune = given.has("--tune");
  p.depths = given.numbers("--depths", "");
  if (p.depths.empty()) p.depths = {0};
  p.repetitions = static_cast<int>(given.number("--repetitions", 5));
  p.seconds = given.number("--seconds", 0.1);
  p.options.threads = static_cast<int>(given.number("--threads", 0));
  p.options.blocks = static_cast<int>(given.number("--blocks", 0));
  p.options.shared_bytes = static_cast<std::size_t>(given.number("--on-chip", 0));
  if (given.text("--boundary-blocks", "") == "all")
    p.options.boundary_blocks = 0;
  else
    p.options.boundary_blocks = static_cast<int>(given.number("--boundary-blocks", p.options.boundary_blocks));
  p.options.packet_bytes =
      static_cast<st::index_t>(given.number("--packets", static_cast<double>(p.options.packet_bytes)));
  return p;
}

}  // namespace

int main(int argc, char** argv) try {
  const plan p =
      planned({argc,
               argv,
               {"--devices", "--domains", "--types", "--variants", "--depths", "--computing!", "--tune!",
                "--repetitions", "--seconds", "--threads", "--blocks", "--on-chip", "--boundary-blocks", "--packets"}});
  for (const int n : p.devices) {
    const st::machine m = st::machine::best(n);
    if (p.tune) tune(m);
    for (const domain& d : p.domains) {
      json_line("begin").add("devices", n).add("domain", d.name).print();
      for (const std::string& type : p.types)
        type == "float64" ? measure_domain<double>(m, d, p) : measure_domain<float>(m, d, p);
    }
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "steps: %s\n", e.what());
  return 1;
}
