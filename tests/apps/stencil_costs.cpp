// What the cost model chooses, and the file that measured costs are kept in.
#include "stencil/plan/cost_model.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "starling/base/error.hpp"
#include "stencil/plan/cost_file.hpp"
#include "stencil/plan/plan.hpp"
#include "stencil/plan/tune.hpp"
#include "stencil/temporal/temporal_kernels.hpp"
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/stencil_runs.hpp"

namespace starling::stencil {
namespace {

constexpr tile_limits gpu{machine_kind::cuda, 132, 230'000};

variant_choice on_gpus(std::vector<index_t> shape, int most, const run_options& options = {}) {
  problem<float> p;
  p.coefficients = jacobi_coefficients<float>(static_cast<int>(shape.size()));
  p.shape = std::move(shape);
  return choose_devices<float>(p, most, gpu, built_in_costs(machine_kind::cuda), options);
}

bool in_shared(const variant_choice& c) { return c.how == variant::resident || c.how == variant::temporal; }

// A made-up device whose kernels fit so many times; nobody asks for the costs where the variant is named.
run_plan planned(std::vector<index_t> shape, const run_options& options, int processes = 1) {
  problem<float> p;
  p.coefficients = jacobi_coefficients<float>(static_cast<int>(shape.size()));
  p.shape = std::move(shape);
  const auto costs = [&] {
    CHECK(options.how == variant::automatic);
    return built_in_costs(machine_kind::cuda);
  };
  return make_plan<float>(geometry_of(p, 2), {gpu, processes, [](variant, int, bool) { return 500; }, costs}, options);
}

TEST_CASE("a plan has what its engine runs with") {
  for (const variant how : {variant::copy, variant::overlap, variant::p2p, variant::graph, variant::cpu_free}) {
    const run_plan p = planned({4096, 4096}, {.how = how, .blocks = 96, .threads = 128});
    CHECK(p.how == how);
    CHECK(p.why.empty());
    REQUIRE(std::holds_alternative<launch_shape>(p.engine));
    CHECK(std::get<launch_shape>(p.engine).blocks == 96);
    CHECK(std::get<launch_shape>(p.engine).threads == 128);
  }
  CHECK(std::holds_alternative<tile_choice>(planned({512, 512}, {.how = variant::resident}).engine));
  CHECK(std::holds_alternative<temporal_choice>(planned({16384, 16384}, {.how = variant::temporal}).engine));
  const run_plan large = planned({1024, 1024, 1024}, {.how = variant::resident});
  CHECK(large.how == variant::cpu_free);
  CHECK(large.why.find("the steps of cpu_free: no tiles of resident fit on chip") == 0);
  CHECK(std::holds_alternative<launch_shape>(large.engine));
  CHECK(planned({4096, 4096}, {.how = variant::cpu_free}, 2).how == variant::cpu_free);
  CHECK_FALSE(test::failure_of<unsupported_error>([] { planned({4096, 4096}, {.how = variant::p2p}, 2); }).empty());
  CHECK_FALSE(
      test::failure_of<launch_error>([] { planned({4096, 4096}, {.how = variant::cpu_free, .blocks = 501}); }).empty());
}

TEST_CASE("the plan of `automatic` is that of the variant that it chooses") {
  for (const index_t side : {64, 1024, 4096, 16384}) {
    const run_plan chosen = planned({side, side}, {});
    const run_plan named = planned({side, side}, {.how = chosen.how, .depth = chosen.depth});
    INFO("side ", side, " ", name(chosen.how));
    CHECK(chosen.how != variant::automatic);
    CHECK(chosen.engine.index() == named.engine.index());
    CHECK(chosen.us > 0);
    CHECK(chosen.why.find(name(chosen.how)) == 0);
    if (const auto* tiles = std::get_if<tile_choice>(&chosen.engine)) {
      CHECK(tiles->grid.blocks() == std::get<tile_choice>(named.engine).grid.blocks());
      CHECK(tiles->threads == std::get<tile_choice>(named.engine).threads);
    }
  }
}

TEST_CASE("cells that fit on chip stay there, and small domains on few devices") {
  const variant_choice small = on_gpus({64, 64}, 4);
  CHECK(in_shared(small));
  CHECK(small.devices == 1);
  const variant_choice large = on_gpus({4096, 4096}, 4);
  CHECK(in_shared(large));
  CHECK(large.devices == 4);
  CHECK(large.why.find("on 4 devices") != std::string::npos);
  CHECK(large.why.find("cpu_free ") != std::string::npos);
  CHECK(large.why.find("costs: built in") != std::string::npos);
  CHECK(on_gpus({1, 5}, 4).devices == 1);
}

// In two dimensions it is read once in some steps, or by spilling register tiles, as far as these go.
TEST_CASE("large domains stay in memory") {
  const variant_choice flat = on_gpus({16384, 16384}, 2);
  CHECK(flat.how == variant::temporal);
  CHECK(flat.depth == temporal_most_depth);
  CHECK(on_gpus({16384, 16384}, 2, {.check_every = 100}).how == variant::temporal);
  CHECK(on_gpus({16384, 16384}, 2, {.check_every = 1}).how == variant::resident);
  const variant_choice wide = on_gpus({4096, 65536}, 2, {.check_every = 1});
  CHECK(wide.how == variant::cpu_free);
  CHECK(wide.why.find("resident") == std::string::npos);
  CHECK(on_gpus({256, 256, 256}, 2).how == variant::cpu_free);
}

TEST_CASE("bytes count: what fits on chip in float32 need not in float64") {
  const auto chosen = [](auto zero) {
    problem<decltype(zero)> p;
    p.shape = {64, 256, 256};
    p.coefficients = jacobi_coefficients<decltype(zero)>(3);
    return choose_devices(p, 1, gpu, built_in_costs(machine_kind::cuda), {});
  };
  CHECK(chosen(0.0f).how == variant::resident);
  CHECK(chosen(0.0).how == variant::cpu_free);
  CHECK(chosen(0.0).us > 1.5 * chosen(0.0f).us);
}

TEST_CASE("cpu_free unless another is clearly cheaper") {
  problem<float> p;
  p.shape = {512, 512};
  p.coefficients = jacobi_coefficients<float>(2);
  const geometry g = geometry_of(p, 1);
  step_costs c = built_in_costs(machine_kind::cuda);
  c.near_us = 1e6;
  c.graph_us = 0.98 * c.meet_us;
  CHECK(choose_variant<float>(g, gpu, c, {}).how == variant::cpu_free);
  c.graph_us = 0.5 * c.meet_us;
  CHECK(choose_variant<float>(g, gpu, c, {}).how == variant::graph);
}

TEST_CASE("virtual devices all take part, and with unknown costs in cpu_free") {
  problem<float> p;
  p.shape = {3, 64};
  p.coefficients = jacobi_coefficients<float>(2);
  const tile_limits limits{machine_kind::host, 64, std::size_t{1} << 20};
  const variant_choice c = choose_devices<float>(p, 4, limits, built_in_costs(machine_kind::host), {});
  CHECK(c.how == variant::cpu_free);
  CHECK(c.devices == 3);
  CHECK(c.why.find("graph") == std::string::npos);
}

TEST_CASE("more threads than a tile's block has leave the other variants") {
  CHECK(in_shared(on_gpus({256, 256}, 1, {.threads = 512})));
  CHECK(on_gpus({256, 256}, 1, {.threads = 768}).how == variant::cpu_free);
  // A block of a pass has fewer than one of a tile.
  CHECK(on_gpus({8192, 8192}, 1, {.threads = 384}).how == variant::temporal);
  CHECK(on_gpus({8192, 8192}, 1, {.threads = 512}).how == variant::cpu_free);
  CHECK_FALSE(test::failure_of<argument_error>([] { (void)on_gpus({256, 256}, 1, {.threads = 40}); }).empty());
}

TEST_CASE("costs decide") {
  problem<float> p;
  p.shape = {512, 512};
  p.coefficients = jacobi_coefficients<float>(2);
  const geometry g = geometry_of(p, 2);
  step_costs c = built_in_costs(machine_kind::cuda);
  c.far_us = 1e6;
  c.graph_us = 0.1;
  CHECK(choose_variant<float>(g, gpu, c, {}).how == variant::graph);
  c.host_us = 0.05;
  CHECK(choose_variant<float>(g, gpu, c, {}).how == variant::p2p);
}

struct cache_folder {
  cache_folder() {
    const char* was = std::getenv("XDG_CACHE_HOME");
    if (was != nullptr) before = was;
    path = std::filesystem::temp_directory_path() / "starling_test_cache";
    std::filesystem::remove_all(path);
    setenv("XDG_CACHE_HOME", path.c_str(), 1);
  }
  ~cache_folder() {
    if (before.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", before.c_str(), 1);
    std::filesystem::remove_all(path);
  }
  void write(const std::string& text) const {
    const std::filesystem::path file = cost_file(machine_kind::host);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string before;
  std::filesystem::path path;
};

TEST_CASE("costs of PEs that share a device: their part of its rates, and neighbours that are near") {
  const step_costs whole = built_in_costs(machine_kind::cuda);
  CHECK(costs_of_share(whole, 1).source == whole.source);
  const step_costs part = costs_of_share(whole, 4);
  CHECK(part.far_us == whole.near_us);
  CHECK(part.near_us == whole.near_us);
  CHECK(part.memory_cells_per_us == whole.memory_cells_per_us / 4);
  CHECK(part.cached_cells_per_us == whole.cached_cells_per_us / 4);
  CHECK(part.temporal_cells_per_us == whole.temporal_cells_per_us / 4);
  CHECK(part.chip_cells_per_us == whole.chip_cells_per_us);
  CHECK(part.source.find("1 of 4 PEs") != std::string::npos);
}

TEST_CASE_FIXTURE(cache_folder, "costs of shares have a file of their own") {
  CHECK(cost_file(machine_kind::cuda, 1) == cost_file(machine_kind::cuda));
  CHECK(cost_file(machine_kind::cuda, 4) != cost_file(machine_kind::cuda));
  step_costs c = built_in_costs(machine_kind::cuda);
  c.near_us = 3.5;
  write_costs(cost_file(machine_kind::cuda, 4), c, "a GPU, 1 of 4 PEs");
  CHECK(costs_of(machine_kind::cuda, "a GPU, 1 of 4 PEs", 4).near_us == 3.5);
  CHECK(costs_of(machine_kind::cuda, "a GPU").near_us != 3.5);
}

TEST_CASE_FIXTURE(cache_folder, "costs come back as they were written") {
  CHECK(costs_of(machine_kind::host, "virtual device").source == "built in");
  step_costs c = built_in_costs(machine_kind::cuda);
  c.near_us = 1.25;
  write_costs(cost_file(machine_kind::host), c, "virtual device");
  const step_costs back = costs_of(machine_kind::host, "virtual device");
  CHECK(back.near_us == 1.25);
  CHECK(back.memory_cells_per_us == c.memory_cells_per_us);
  CHECK(back.source == cost_file(machine_kind::host));
}

TEST_CASE_FIXTURE(cache_folder, "bad files are refused, and say what is wrong") {
  write_costs(cost_file(machine_kind::host), built_in_costs(machine_kind::cuda), "virtual device");
  std::stringstream good;
  good << std::ifstream(cost_file(machine_kind::host)).rdbuf();
  const auto refusal = [&](std::string text, const std::string& device = "virtual device") {
    write(text);
    return test::failure_of<argument_error>([&] { (void)costs_of(machine_kind::host, device); });
  };
  const auto says = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(says(refusal(""), "not a flat JSON object"));
  CHECK(says(refusal("[]"), "run `starling tune` to write it again"));
  CHECK(says(refusal("{\"format\": 1}"), "\"format\" is not 3"));
  CHECK(says(refusal("{\"format\": 3}"), "\"device\" is missing"));
  CHECK(says(refusal("{\"format\": 3, \"device\": \"virtual device\"}"), "\"near_us\" is missing"));
  CHECK(says(refusal(good.str(), "another"), "measured on virtual device, but this is another"));
  CHECK(says(refusal(std::string(5000, ' ')), "more than 4096 bytes"));
  std::string negative = good.str();
  negative.replace(negative.find("3.6"), 3, "-36");
  CHECK(says(refusal(negative), "must be more than 0"));
  // Every cut-off file is refused too.
  for (std::size_t n = 0; n + 2 < good.str().size(); n += 7) CHECK_FALSE(refusal(good.str().substr(0, n)).empty());
}

TEST_CASE_FIXTURE(cache_folder, "tuning finds costs, and automatic runs go by them") {
  std::optional<machine> m = test::test_machine(2);
  if (!m) return;
  const step_costs c = tune(*m, 0.01);
  for (const auto& [what, value] : by_name(c)) {
    CAPTURE(what);
    CHECK(value > 0);
    CHECK(std::isfinite(value));
  }
  write_costs(cost_file(m->kind(), m->device(0).pes_on_gpu), c, tuned_device(*m));
  problem<double> p;
  p.shape = {20, 21};
  p.coefficients = jacobi_coefficients<double>(2);
  std::mt19937 draw(51);
  std::vector<double> u = test::random_cells(p, draw);
  std::vector<double> expected = u;
  reference(p, expected, 9);
  solver<double> s(*m, p);
  s.load(u.data());
  const run_result r = s.advance({.how = variant::automatic, .steps = 9});
  s.store(u.data());
  CHECK(u == expected);
  CHECK(r.how != variant::automatic);
  CHECK(r.why.find(std::string(name(r.how)) + " on 2 devices") == 0);
  CHECK(r.why.find(cost_file(m->kind(), m->device(0).pes_on_gpu)) != std::string::npos);
}

TEST_CASE_FIXTURE(cache_folder, "automatic is the default, and chooses again only for other options") {
  std::optional<machine> m = test::test_machine(1);
  if (!m) return;
  const auto write = [&](double graph_us) {
    step_costs c = built_in_costs(machine_kind::cuda);
    c.chip_cells_per_us = 1e-6;
    c.host_us = 1e6;
    c.graph_us = graph_us;
    write_costs(cost_file(m->kind(), m->device(0).pes_on_gpu), c, tuned_device(*m));
  };
  problem<float> p;
  p.shape = {20, 21};
  p.coefficients = jacobi_coefficients<float>(2);
  std::mt19937 draw(52);
  std::vector<float> u = test::random_cells(p, draw);
  solver<float> s(*m, p);
  s.load(u.data());
  write(1e-3);
  CHECK(s.advance({.steps = 3}).how == variant::graph);
  write(1e6);
  CHECK(s.advance({.steps = 5}).how == variant::graph);
  CHECK(s.plan({.steps = 5}).how == variant::cpu_free);
  const run_result r = s.advance({.steps = 4, .check_every = 2});
  CHECK(r.how == variant::cpu_free);
  CHECK(r.why.find("cpu_free on 1 device: expected us per step cpu_free ") == 0);
  reference(p, u, 12);
  std::vector<float> got(u.size());
  s.store(got.data());
  CHECK(got == u);
}

TEST_CASE_FIXTURE(cache_folder, "what needs more memory than there is makes room for cpu_free") {
  const test::environment_guard memory("STARLING_HOST_MEMORY", "6M");
  machine m = machine::host(1);
  write_costs(cost_file(machine_kind::host), built_in_costs(machine_kind::cuda), tuned_device(m));
  problem<float> p;
  p.shape = {700, 700};
  p.coefficients = jacobi_coefficients<float>(2);
  std::mt19937 draw(53);
  std::vector<float> u = test::random_cells(p, draw);
  solver<float> s(m, p);
  s.load(u.data());
  run_options o{.steps = 3};
  o.shared_bytes = 16;  // no tiles
  REQUIRE(s.plan(o).how == variant::temporal);
  for (int run = 0; run < 2; ++run) {
    const run_result r = s.advance(o);
    CHECK(r.how == variant::cpu_free);
    CHECK(r.why.find("; ran cpu_free, since the memory left is not enough for temporal") != std::string::npos);
  }
  o.how = variant::temporal;
  CHECK_FALSE(test::failure_of<memory_error>([&] { s.advance(o); }).empty());
  reference(p, u, 6);
  std::vector<float> got(u.size());
  s.store(got.data());
  CHECK(got == u);
}

TEST_CASE("a time that makes no sense") {
  CHECK_FALSE(test::failure_of<argument_error>([] { (void)tune(machine::host(1), 0); }).empty());
}

}  // namespace
}  // namespace starling::stencil
