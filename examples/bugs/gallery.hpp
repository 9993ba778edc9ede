// main's part of every program in this folder. Each holds a mistake and its remedy; check mode must catch the one and
// pass the other:
//
//   bug_<name> [fixed] [--seeds N] [--each]
//
// Without `fixed` the exit status is 0 if the mistake is caught, as what it is and with a message that says so; with
// `fixed` it is 0 if nothing is found and the result is right. --each tells for every seed alone what it finds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <source_location>
#include <string>
#include <vector>

#include "starling/starling.hpp"

namespace st = starling;

namespace gallery {

// What check mode is to say of the mistake.
struct expected {
  std::vector<st::defect> kinds;  // any of them: which one depends on whose access comes first
  std::string text;               // part of the message
  int pes = 4;
  std::vector<int> hosts = {};  // of each PE; none: all on one
  int threads = 0;              // of a block; 0: as the seed says
};

// Runs the program, wrong or fixed, and returns whether its result is right.
using program = std::function<bool(st::machine& m, bool fixed)>;

// An array whose elements all hold `value` on every PE.
template <class T>
st::symmetric_array<T> filled(st::machine& m, st::index_t n, const T& value) {
  auto array = m.allocate<T>(n);
  const std::vector<T> values(static_cast<std::size_t>(n), value);
  for (int pe = 0; pe < m.size(); ++pe) m.copy(array.on(pe), values.data(), values.size() * sizeof(T));
  return array;
}

inline st::symmetric_array<st::signal> signals(st::machine& m, st::index_t n) { return filled(m, n, st::signal{}); }

inline std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

inline st::machine machine_of(const expected& e, std::uint64_t first_seed, std::uint64_t seeds) {
  const st::check_options how = {.first_seed = first_seed, .seeds = seeds, .threads = e.threads};
  return st::machine::host(e.pes, {.hosts = e.hosts}).check(how);
}

inline int each_seed(const expected& e, const program& run, bool fixed, std::uint64_t seeds) {
  std::map<std::string, std::uint64_t> found;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    st::machine m = machine_of(e, seed, 1);
    try {
      run(m, fixed);
      ++found["nothing"];
    } catch (const st::check_error& error) {
      ++found[error.seed() == seed ? st::name(error.what_kind()) : "nothing"];  // seed 0 follows every run
    }
  }
  for (const auto& [what, count] : found)
    std::printf("%8llu of %llu seeds: %s\n", static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(seeds), what.c_str());
  return 0;
}

inline int caught(const st::check_error& error, const expected& e, const std::string& file) {
  const std::string said = error.what();
  bool as_expected = true;
  const auto expect = [&](bool holds, const std::string& what) {
    if (!holds) std::fprintf(stderr, "expected %s\n", what.c_str());
    as_expected = as_expected && holds;
  };
  expect(std::find(e.kinds.begin(), e.kinds.end(), error.what_kind()) != e.kinds.end(),
         std::string("the kind: ") + st::name(e.kinds.front()));
  expect(said.find(e.text) != std::string::npos, "the text: " + e.text);
  expect(said.find(file + ":") != std::string::npos, "a line of " + file);
  return as_expected ? 0 : 1;
}

inline int show(int argc, char** argv, const expected& e, const program& run,
                const std::source_location& at = std::source_location::current()) try {
  bool fixed = false;
  bool each = false;
  std::uint64_t seeds = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "fixed") {
      fixed = true;
    } else if (word == "--each") {
      each = true;
    } else if (word == "--seeds" && i + 1 < argc) {
      seeds = std::stoull(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [fixed] [--seeds N] [--each]\n", argv[0]);
      return 2;
    }
  }
  if (seeds == 0) seeds = fixed ? 1000 : 200;
  if (each) return each_seed(e, run, fixed, seeds);
  st::machine m = machine_of(e, 1, seeds);
  try {
    const bool right = run(m, fixed);
    const auto schedules = static_cast<unsigned long long>(m.checked().schedules);
    if (!m.checked().accesses_seen) std::fprintf(stderr, "loads and stores were not seen: link starling_check\n");
    std::printf("nothing found in %llu schedules; the result is %s\n", schedules, right ? "right" : "wrong");
    return fixed && right && m.checked().accesses_seen ? 0 : 1;
  } catch (const st::check_error& error) {
    std::printf("%s\n", error.what());
    return fixed ? 1 : caught(error, e, base_name(at.file_name()));
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

}  // namespace gallery
