#include "stencil/plan/cost_file.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "starling/base/error.hpp"

namespace starling::stencil {
namespace {

constexpr double format = 3;
constexpr std::size_t most_bytes = 4096;

struct named_cost {
  const char* name;
  double step_costs::* value;
};
constexpr named_cost fields_of_costs[] = {
    {"near_us", &step_costs::near_us},
    {"far_us", &step_costs::far_us},
    {"chip_cells_per_us", &step_costs::chip_cells_per_us},
    {"meet_us", &step_costs::meet_us},
    {"spread_us", &step_costs::spread_us},
    {"cached_cells_per_us", &step_costs::cached_cells_per_us},
    {"memory_cells_per_us", &step_costs::memory_cells_per_us},
    {"temporal_cells_per_us", &step_costs::temporal_cells_per_us},
    {"graph_us", &step_costs::graph_us},
    {"host_us", &step_costs::host_us},
};

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw argument_error(message(path, ": ", problem, "; run `starling tune` to write it again, or delete it"));
}

// One flat JSON object of texts without escapes and numbers.
class flat_object {
 public:
  flat_object(const std::string& path, const std::string& text) : path_(path), text_(text) {
    expect('{');
    for (bool first = true; !takes('}'); first = false) {
      if (!first) expect(',');
      const std::string key = string();
      expect(':');
      skip();
      if (at_ < text_.size() && text_[at_] == '"')
        texts[key] = string();
      else
        numbers[key] = number();
    }
    skip();
    if (at_ != text_.size()) fail();
  }

  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;

 private:
  [[noreturn]] void fail() const { refuse(path_, message("not a flat JSON object (byte ", at_, ")")); }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool takes(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!takes(c)) fail();
  }
  std::string string() {
    expect('"');
    const std::size_t end = text_.find_first_of("\"\\\n", at_);
    if (end == std::string::npos || text_[end] != '"') fail();
    const std::string s = text_.substr(at_, end - at_);
    at_ = end + 1;
    return s;
  }
  double number() {
    const char* start = text_.c_str() + at_;
    char* end = nullptr;
    const double value = std::strtod(start, &end);
    if (end == start) fail();
    at_ += static_cast<std::size_t>(end - start);
    return value;
  }

  const std::string& path_;
  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string cost_file(machine_kind kind, int pes_on_gpu) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path folder;
  if (cache != nullptr && cache[0] == '/')
    folder = cache;
  else if (home != nullptr && home[0] == '/')
    folder = std::filesystem::path(home) / ".cache";
  else
    return {};
  const std::string shared = pes_on_gpu > 1 ? message("_pes", pes_on_gpu) : std::string();
  return (folder / "starling" / message("stencil_", name(kind), shared, ".json")).string();
}

step_costs read_costs(const std::string& path, const std::string& device) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be read");
  std::string text(most_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most_bytes) refuse(path, message("more than ", most_bytes, " bytes"));
  const flat_object o(path, text);
  const auto version = o.numbers.find("format");
  if (version == o.numbers.end() || version->second != format) refuse(path, message("\"format\" is not ", format));
  const auto where = o.texts.find("device");
  if (where == o.texts.end()) refuse(path, "\"device\" is missing");
  if (where->second != device) refuse(path, message("measured on ", where->second, ", but this is ", device));
  step_costs costs;
  for (const named_cost& c : fields_of_costs) {
    const auto found = o.numbers.find(c.name);
    if (found == o.numbers.end()) refuse(path, message("\"", c.name, "\" is missing"));
    if (!std::isfinite(found->second) || found->second <= 0)
      refuse(path, message("\"", c.name, "\" is ", found->second, ", must be more than 0"));
    costs.*c.value = found->second;
  }
  costs.source = path;
  return costs;
}

std::map<std::string, double> by_name(const step_costs& costs) {
  std::map<std::string, double> named;
  for (const named_cost& c : fields_of_costs) named[c.name] = costs.*c.value;
  return named;
}

void write_costs(const std::string& path, const step_costs& costs, const std::string& device) {
  expect<argument_error>(!path.empty(),
                         "stencil: no place for measured costs; set XDG_CACHE_HOME or HOME, or name a file");
  std::error_code problem;
  const std::filesystem::path target(path);
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), problem);
  std::ostringstream text;
  text.precision(9);
  text << "{\n  \"format\": " << format << ",\n  \"device\": \"" << device << "\"";
  for (const named_cost& c : fields_of_costs) text << ",\n  \"" << c.name << "\": " << costs.*c.value;
  text << "\n}\n";
  const std::filesystem::path part = path + ".part";
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text.str();
  file.close();
  if (file) std::filesystem::rename(part, target, problem);
  if (!file || problem)
    throw argument_error(message(path, " cannot be written", problem ? " (" + problem.message() + ")" : std::string(),
                                 "; check its folder, or set XDG_CACHE_HOME"));
}

step_costs costs_of(machine_kind kind, const std::string& device, int pes_on_gpu) {
  const std::string path = cost_file(kind, pes_on_gpu);
  std::error_code problem;
  if (path.empty() || !std::filesystem::exists(path, problem)) return costs_of_share(built_in_costs(kind), pes_on_gpu);
  return read_costs(path, device);
}

}  // namespace starling::stencil
