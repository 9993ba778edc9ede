// Wrong programs, written from the documentation alone, each with its corrected twin. Check mode must find the mistake
// of the one, as what it is and in words that help, and pass the other with the right result.
//
//   WRONG_PROGRAM(name, found, .kinds = {...}, .says = {...}) { ...runs on m, wrong or fixed; returns whether right }
//
// What check mode does not find yet says `missed` in place of `found`; the test fails as soon as that is no longer so.
// Each is a test case in a suite of that name, so `wrong --count --test-suite=missed` counts and
// `wrong --list-test-cases --test-suite=missed` names them.
//
// A miss must not end the process: what a wrong program writes lies in memory of the machine, or in a guard around it.
//
// With STARLING_TEST_MACHINE=cuda a case runs one of the two on GPUs, which STARLING_WRONG names (wrong or fixed), so
// often as STARLING_WRONG_RUNS says, and says what came of it; see bench/check/on_gpus.py.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "support/checked.hpp"
#include "support/test_machine.hpp"

namespace starling::test {

enum class detection { found, missed };

struct expected {
  std::vector<defect> kinds;      // any of them: which one depends on whose access comes first
  std::vector<std::string> says;  // each is a part of the message
  int pes = 2;
  int threads = 1;            // of a block; 0: as the seeds say
  bool twin_refused = false;  // check mode calls the corrected program wrong
};

inline const std::vector<defect> races = {defect::unordered_read, defect::unordered_write};

using program_to_check = bool (*)(machine& m, bool fixed);

// Empty when the message is what is expected of it; otherwise what is wrong with it.
inline std::string shortcoming(defect what, const std::string& said, const expected& want) {
  if (std::find(want.kinds.begin(), want.kinds.end(), what) == want.kinds.end())
    return message("found as ", name(what), ", not as ", name(want.kinds.front()), ": ", said);
  for (const std::string& part : want.says)
    if (said.find(part) == std::string::npos) return message("does not say '", part, "': ", said);
  return {};
}

// Empty when check mode finds the mistake, or the call itself refuses what is out of bounds; otherwise what is said
// instead.
inline std::string miss(program_to_check run, const expected& want) {
  machine m = checked_machine(want.pes, few_seeds, 1, want.threads);
  try {
    run(m, false);
  } catch (const check_error& e) {
    return shortcoming(e.what_kind(), e.what(), want);
  } catch (const range_error& e) {
    return shortcoming(defect::out_of_bounds, e.what(), want);
  } catch (const std::exception& e) {
    return message("another type of error: ", e.what());
  }
  return "nothing found";
}

// Empty when check mode passes the corrected program and its result is right.
inline std::string refusal(program_to_check run, const expected& want) {
  machine m = checked_machine(want.pes, few_seeds, 1, want.threads);
  try {
    if (!run(m, true)) return "the result is wrong";
  } catch (const std::exception& e) {
    return e.what();
  }
  return m.checked().accesses_seen ? "" : "loads and stores were not seen";
}

inline std::string first_line(const std::exception& e) {
  const std::string said = e.what();
  return said.substr(0, said.find('\n'));
}

// Runs it on GPUs, and says before it "begin NAME" and after each run "outcome of NAME: " and right, wrong result,
// skipped, or an error. After a device error nothing more runs in that process.
inline void run_on_gpus(program_to_check run, const char* id, const expected& want) {
  const auto say = [](const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  };
  const auto outcome = [&](const std::string& what) { say(message("outcome of ", id, ": ", what)); };
  say(message("begin ", id));
  const char* which = std::getenv("STARLING_WRONG");
  const char* times = std::getenv("STARLING_WRONG_RUNS");
  const bool fixed = which != nullptr && std::string(which) == "fixed";
  const int runs = times != nullptr ? std::atoi(times) : 1;
  std::optional<machine> m;
  for (int i = 0; i < runs; ++i) try {
      if (!m) m = test_machine(want.pes);
      if (!m) return outcome("skipped");
      const bool right = run(*m, fixed);
      outcome(right ? "right" : "wrong result");
      if (fixed) CHECK(right);
    } catch (const device_error& e) {
      outcome(message("device error: ", first_line(e)));
      if (fixed) CHECK_MESSAGE(false, e.what());
      return;
    } catch (const std::exception& e) {
      outcome(first_line(e));
      if (fixed) CHECK_MESSAGE(false, e.what());
      m.reset();
    }
}

inline void check_program(program_to_check run, const char* id, detection today, const expected& want) {
  if (on_gpus()) return run_on_gpus(run, id, want);
  const std::string missed = miss(run, want);
  if (today == detection::found) {
    CHECK_MESSAGE(missed.empty(), missed);
  } else {
    CHECK_MESSAGE(!missed.empty(), "it is found now: say `found`");
    MESSAGE("missed: " << missed);
  }
  const std::string refused = refusal(run, want);
  if (want.twin_refused) {
    CHECK_MESSAGE(!refused.empty(), "the corrected program passes now: take `twin_refused` away");
    MESSAGE("the corrected program is refused: " << refused);
  } else {
    CHECK_MESSAGE(refused.empty(), "the corrected program: " << refused);
  }
}

inline int* ints(const local_memory& m) { return reinterpret_cast<int*>(m.data()); }

}  // namespace starling::test

#define WRONG_PROGRAM(id, today, ...)                                                                      \
  bool id(machine& m, bool fixed);                                                                         \
  TEST_CASE(#id* doctest::test_suite(#today)) { check_program(id, #id, detection::today, {__VA_ARGS__}); } \
  bool id(machine& m, bool fixed)
