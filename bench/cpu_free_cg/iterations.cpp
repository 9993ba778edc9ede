// Time per iteration of conjugate gradients in float64, for every method and control, and of the product with the
// matrix alone. Each matrix is made once and goes to every number of devices. Prints one JSON object a line; what fails
// is a line with "error", and the rest goes on.
//
//   iterations [--devices 1,2,4] [--repetitions 5] [--seconds 0.05] [--matrices TEXT,..] [--methods M,..]
//              [--controls C,..] [--threads N] [--blocks N] [--keep BYTES] [--small] [--list]
//
// --seconds: about how long a repetition lasts. --matrices: those whose names contain one of the texts. --small: small
// matrices, as on virtual devices. --threads, --blocks, --keep: as solve_options says, instead of what is chosen.
#include <chrono>
#include <cstdio>
#include <map>
#include <random>

#include "cases.hpp"
#include "cg/solver.hpp"
#include "command_line.hpp"
#include "json_line.hpp"

namespace st = starling;
namespace cg = starling::cg;
using starling::bench::json_line;
using starling::bench::matrix_case;

namespace {

struct plan {
  std::vector<int> devices;
  std::vector<cg::method> methods;
  std::vector<cg::control> controls;
  std::vector<std::string> matrices;
  int repetitions;
  double seconds;
  cg::solve_options launch;
};

std::vector<double> random_values(st::index_t n) {
  std::minstd_rand draw(1);
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& v : values) v = static_cast<double>(draw()) / static_cast<double>(std::minstd_rand::max());
  return values;
}

st::machine machine_of(int devices) {
  if (st::machine::probe_cuda().devices == 0) return st::machine::host(devices);
  std::vector<int> ids;
  for (int id = 0; id < devices; ++id) ids.push_back(id);
  return st::machine::cuda(ids);
}

// A matrix on one machine, and what is measured of it.
class subject {
 public:
  subject(const matrix_case& c, const cg::csr_view<double>& a, const st::machine& m, const plan& p)
      : case_(c),
        plan_(p),
        devices_(m.size()),
        kind_(name(m.kind())),
        started_(std::chrono::steady_clock::now()),
        solver_(m, a),
        setup_seconds_(std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count()),
        b_(random_values(a.rows)),
        x_(b_.size()) {}

  json_line line(const char* what) const {
    const cg::matrix_facts& f = solver_.facts();
    json_line out(what);
    out.add("machine", kind_).add("devices", devices_).add("matrix", case_.name).add("stands_for", case_.stands_for);
    out.add("rows", f.rows).add("nonzeros", f.nonzeros).add("storage", name(f.how)).add("offset_bits", f.offset_bits);
    return out.add("halo", f.halo).add("bytes", f.bytes);
  }

  void time_multiply() {
    const double once = std::max(1e-7, solver_.time_multiply(3, 1).back());
    const int products = static_cast<int>(std::clamp(plan_.seconds / once, 3.0, 2000.0));
    solver_.time_multiply(products, 1);
    json_line out = line("multiply");
    out.add("setup_seconds", setup_seconds_)
        .add("products", products)
        .add("us", microseconds(solver_.time_multiply(products, plan_.repetitions), 1));
    out.print();
  }

  void time_iterations(cg::method how, cg::control who) {
    cg::solve_options o = plan_.launch;
    o.how = how;
    o.who = who;
    o.fixed = true;
    o.max_iterations = std::min<st::index_t>(20, case_.most_iterations);
    const double once = std::max(1e-7, solved(o).seconds / static_cast<double>(o.max_iterations));
    const double most = static_cast<double>(case_.most_iterations);
    o.max_iterations = static_cast<st::index_t>(std::clamp(plan_.seconds / once, std::min(20.0, most), most));
    cg::solve_result r = solved(o);
    std::vector<double> seconds;
    for (int i = 0; i < plan_.repetitions; ++i) seconds.push_back((r = solved(o)).seconds);
    json_line out = line("cg");
    out.add("method", name(how)).add("control", name(who)).add("iterations", o.max_iterations);
    out.add("us", microseconds(seconds, o.max_iterations)).add("blocks", r.blocks).add("threads", r.threads);
    out.add("kept_bytes", r.kept_bytes).add("residual", r.target > 0 ? r.residual / r.target * o.rtol : 0).print();
  }

 private:
  // From zero; throws when the iterations were not all done.
  cg::solve_result solved(const cg::solve_options& o) {
    std::fill(x_.begin(), x_.end(), 0.0);
    cg::solve_result r = solver_.solve(b_.data(), x_.data(), o);
    st::expect<st::error>(r.iterations == o.max_iterations, "ended after ", r.iterations, " of ", o.max_iterations,
                          " iterations: ", name(r.why));
    return r;
  }

  static std::vector<double> microseconds(std::vector<double> seconds, st::index_t iterations) {
    for (double& s : seconds) s *= 1e6 / static_cast<double>(iterations);
    return seconds;
  }

  const matrix_case& case_;
  const plan& plan_;
  int devices_;
  const char* kind_;
  std::chrono::steady_clock::time_point started_;
  cg::solver<double> solver_;
  double setup_seconds_;
  std::vector<double> b_, x_;
};

// Does one part; a failure becomes a line.
template <class F>
bool attempt(const json_line& described, const F& part) try {
  part();
  return true;
} catch (const std::exception& e) {
  json_line(described).add("error", e.what()).print();
  return false;
}

void measure(const matrix_case& c, const cg::csr_view<double>& a, const st::machine& m, const plan& p) {
  json_line whole("cg");
  whole.add("devices", m.size()).add("matrix", c.name);
  attempt(whole, [&] {
    subject s(c, a, m, p);
    attempt(s.line("multiply"), [&] { s.time_multiply(); });
    for (const cg::method how : p.methods)
      for (const cg::control who : p.controls)
        attempt(s.line("cg").add("method", name(how)).add("control", name(who)), [&] { s.time_iterations(how, who); });
  });
}

void measure_all(const plan& p, bool small) {
  std::map<int, st::machine> machines;
  for (const int n : p.devices) attempt(json_line("cg").add("devices", n), [&] { machines.emplace(n, machine_of(n)); });
  for (const matrix_case& c : st::bench::matrix_cases(small)) {
    if (machines.empty() || !st::bench::wanted(p.matrices, c.name)) continue;
    json_line("begin").add("matrix", c.name).print();
    attempt(json_line("cg").add("matrix", c.name), [&] {
      const cg::csr<double> a = c.make();
      for (const auto& [n, m] : machines) measure(c, a.view(), m, p);
    });
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv,
                                      {"--devices", "--repetitions", "--seconds", "--matrices", "--methods",
                                       "--controls", "--threads", "--blocks", "--keep", "--small!", "--list!"});
  const int gpus = st::machine::probe_cuda().devices;
  const bool small = given.has("--small") || gpus == 0;
  if (given.has("--list")) {
    for (const matrix_case& c : st::bench::matrix_cases(small)) std::printf("%s\n", c.name.c_str());
    return 0;
  }
  plan p;
  p.devices = given.numbers("--devices", gpus == 0 || gpus >= 4 ? "1,2,4" : gpus >= 2 ? "1,2" : "1");
  p.repetitions = static_cast<int>(given.number("--repetitions", 5));
  p.seconds = given.number("--seconds", 0.05);
  p.launch.threads = static_cast<int>(given.number("--threads", 0));
  p.launch.blocks = static_cast<int>(given.number("--blocks", 0));
  p.launch.keep_bytes = static_cast<st::index_t>(given.number("--keep", -1));
  p.matrices = given.list("--matrices", "");
  for (const std::string& text : given.list("--methods", "standard,fused,pipelined"))
    p.methods.push_back(cg::method_named(text));
  for (const std::string& text : given.list("--controls", "cpu_free,streams,graph"))
    p.controls.push_back(cg::control_named(text));
  measure_all(p, small);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "iterations: %s\n", e.what());
  return 1;
}
