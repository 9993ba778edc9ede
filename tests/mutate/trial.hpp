// What the programs share that tools/mutate_protocols.py builds with one mistake at a time: cases that run in check
// mode, one after another, up to the first finding.
//
//   <program> [seeds [threads of a block]]
//
// The last line of output is "passed", "found <defect>, seed N, in <case>" or "wrong result in <case>: <what>".
#pragma once

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "starling/starling.hpp"

namespace st = starling;

namespace trial {

struct wrong_result : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Compares in a kernel what a block sees with what it should. A difference ends the run, but not before check mode has
// seen the accesses that led to it.
class verdict {
 public:
  template <class T>
  void same(const T& got, const T& wanted) {
    if (got != wanted && text_.empty()) text_ = st::message("got ", got, ", not ", wanted);
  }
  void end(st::block& b) const {
    if (text_.empty()) return;
    b.fence();
    throw wrong_result(text_);
  }

 private:
  std::string text_;
};

struct trial_case {
  std::string name;
  int pes;
  std::function<void(st::machine& m)> run;  // throws what it finds
  std::vector<int> hosts = {};
  int queue_depth = 64;
};

template <class T>
st::symmetric_array<T> zeroed(st::machine& m, st::index_t n) {
  auto array = m.allocate<T>(n);
  for (int pe = 0; pe < m.size(); ++pe) m.fill(array.on(pe), 0, static_cast<std::size_t>(n) * sizeof(T));
  return array;
}

inline int all(int argc, char** argv, const std::vector<trial_case>& cases) {
  const std::uint64_t seeds = argc > 1 ? std::stoull(argv[1]) : 200;
  const int threads = argc > 2 ? std::stoi(argv[2]) : 1;
  for (const trial_case& c : cases) try {
      st::machine m =
          st::machine::host(
              c.pes,
              {.memory_bytes = std::size_t{1} << 22, .max_blocks = 16, .hosts = c.hosts, .queue_depth = c.queue_depth})
              .check({.first_seed = 1, .seeds = seeds, .threads = threads});
      c.run(m);
    } catch (const st::check_error& e) {
      std::printf("%s\nfound %s, seed %llu, in %s\n", e.what(), st::name(e.what_kind()),
                  static_cast<unsigned long long>(e.seed()), c.name.c_str());
      return 1;
    } catch (const std::exception& e) {
      std::printf("wrong result in %s: %s\n", c.name.c_str(), e.what());
      return 1;
    }
  std::printf("passed\n");
  return 0;
}

}  // namespace trial
