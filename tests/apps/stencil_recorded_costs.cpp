// What the cost model expects, and what is therefore chosen, against the steps that H200s took: the result files that
// the present programs were measured for. That of four GPUs is older than they are.
#include <doctest/doctest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/plan/cost_model.hpp"

namespace starling::stencil {
namespace {

constexpr tile_limits h200{machine_kind::cuda, 132, 231'424};

// A line of a result file.
struct recorded_step {
  geometry g;
  std::string domain;
  int devices = 0;
  variant how{};
  int blocks = 0;
  int threads = 0;
  int depth = 0;
  double us = 0;  // the least of the repetitions
};

// What follows "key": in an object without objects in it.
std::string_view value_of(std::string_view object, const std::string& key) {
  const std::size_t at = object.find('"' + key + "\":");
  return at == std::string_view::npos ? std::string_view{} : object.substr(at + key.size() + 3);
}

double number(std::string_view text) {
  const std::size_t at = text.find_first_of("-0123456789");
  double value = 0;
  if (at != std::string_view::npos) std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

std::string text_of(std::string_view text) {
  const std::size_t first = text.find('"') + 1;
  return std::string(text.substr(first, text.find('"', first) - first));
}

std::optional<recorded_step> step_of(std::string_view object) {
  const std::string_view us = value_of(object, "us");
  if (us.empty() || value_of(object, "compute").substr(0, 5).find('t') == std::string_view::npos) return std::nullopt;
  recorded_step s;
  s.domain = text_of(value_of(object, "domain"));
  s.devices = static_cast<int>(number(value_of(object, "devices")));
  s.how = variant_named(text_of(value_of(object, "variant")));
  s.blocks = static_cast<int>(number(value_of(object, "blocks")));
  s.threads = static_cast<int>(number(value_of(object, "threads")));
  s.depth = static_cast<int>(number(value_of(object, "depth")));
  s.us = number(us);
  const std::string_view list = us.substr(0, us.find(']'));
  for (std::size_t at = list.find(','); at != std::string_view::npos; at = list.find(',', at + 1))
    s.us = std::min(s.us, number(list.substr(at)));
  problem<float> p;
  for (std::size_t at = 0; at < s.domain.size(); at = s.domain.find_first_of("0123456789", s.domain.find('x', at)))
    p.shape.push_back(static_cast<index_t>(number(std::string_view(s.domain).substr(at))));
  p.coefficients = jacobi_coefficients<float>(static_cast<int>(p.shape.size()));
  s.g = geometry_of(p, s.devices);
  return s;
}

// Whether the variant runs today as it did then.
bool still_so(const recorded_step& s) {
  if (s.how != variant::resident && s.how != variant::temporal) return true;
  const cell_plan plan = plan_cells<float>(s.g, h200, {.how = s.how});
  if (const auto* passes = std::get_if<temporal_choice>(&plan))
    return passes->layout.depth == s.depth && passes->threads == s.threads && passes->blocks == s.blocks;
  const auto* tiles = std::get_if<tile_choice>(&plan);
  return tiles != nullptr && tiles->grid.depth == s.depth && tiles->threads == s.threads &&
         tiles->grid.blocks() == s.blocks;
}

std::vector<recorded_step> steps_in(const std::string& file) {
  std::ifstream in(std::filesystem::path(STARLING_STENCIL_RESULTS) / file);
  REQUIRE(in);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<recorded_step> steps;
  for (std::size_t begin = text.find('{'); begin != std::string::npos;) {
    const std::size_t end = text.find_first_of("{}", begin + 1);
    if (end == std::string::npos) break;
    if (text[end] == '}')
      if (auto s = step_of(std::string_view(text).substr(begin, end - begin)); s && still_so(*s)) steps.push_back(*s);
    begin = text.find('{', text[end] == '{' ? end : end + 1);
  }
  return steps;
}

constexpr const char* files[] = {"nvidia-h200-x1.json", "nvidia-h200-x2.json", "tiles/nvidia-h200-x1.json",
                                 "tiles/nvidia-h200-x2.json"};

// The steps of a domain on some devices, by variant.
struct recorded_domain {
  geometry g;
  std::map<variant, double> us;
};

std::map<std::pair<std::string, int>, recorded_domain> domains_in(const std::string& file) {
  std::map<std::pair<std::string, int>, recorded_domain> all;
  for (const recorded_step& s : steps_in(file)) {
    recorded_domain& d = all[{s.domain, s.devices}];
    d.g = s.g;
    d.us[s.how] = s.us;
  }
  return all;
}

// f(domain and devices, steps, what is expected of the variants)
template <class F>
void each_recorded_domain(const F& f) {
  for (const char* file : files)
    for (const auto& [which, d] : domains_in(file)) {
      INFO(file, ": ", which.first, " on ", which.second);
      f(d);
    }
}

TEST_CASE("a step takes what is expected of it, but for the error of the model") {
  int judged = 0;
  each_recorded_domain([&](const recorded_domain& d) {
    for (const variant_choice& c : expected_steps<float>(d.g, h200, built_in_costs(machine_kind::cuda), {})) {
      const auto took = d.us.find(c.how);
      if (c.how == variant::p2p || took == d.us.end()) continue;
      INFO(name(c.how), ": expected ", c.us, ", took ", took->second);
      CHECK(std::abs(c.us / took->second - 1) <= cost_model_error);
      ++judged;
    }
  });
  CHECK(judged >= 100);
}

TEST_CASE("what is chosen is slower than the best, and than cpu_free, by the error of the model at most") {
  int judged = 0;
  each_recorded_domain([&](const recorded_domain& d) {
    const variant_choice c = choose_variant<float>(d.g, h200, built_in_costs(machine_kind::cuda), {});
    const auto took = d.us.find(c.how);
    const auto plain = d.us.find(variant::cpu_free);
    if (took == d.us.end() || plain == d.us.end()) return;
    double best = took->second;
    for (const auto& [how, us] : d.us) best = std::min(best, us);
    INFO(c.why, "; took ", took->second, ", the best ", best, ", cpu_free ", plain->second);
    CHECK(took->second <= (1 + cost_model_error) * best);
    CHECK(took->second <= (1 + cost_model_error) * plain->second);
    // Of these domains in particular: next to nothing is lost.
    CHECK(took->second <= 1.05 * best);
    ++judged;
  });
  CHECK(judged >= 35);
}

}  // namespace
}  // namespace starling::stencil
