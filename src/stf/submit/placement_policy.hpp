// placement_policy: which device a task gets that leaves the choice to the context: the one on which it is expected to
// end first (HEFT's rule), by the measured times of earlier tasks of its class. Classes without measurements are tried
// on every device. Pure: it knows no machine and no clock, and the same calls give the same devices. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace starling::stf {

// One datum that a task reads. Times are seconds on one clock.
struct placed_input {
  double ready = 0;              // when its value is expected to be there
  std::vector<double> transfer;  // by device: how long it takes to bring it; 0 where it is valid
};

enum class placement_reason {
  explores,    // too few tasks of its class have run there
  ends_first,  // no device is expected to end it earlier
  given,       // the program said where
};

const char* name(placement_reason why);

struct placement {
  int device = 0;
  double start = 0;  // expected
  double end = 0;
  placement_reason why = placement_reason::given;
};

class placement_policy {
 public:
  // Tasks of a class that every device gets before the choice is by times. The first may pay for what only first runs
  // need, and its time does not count once there are others.
  static constexpr std::uint64_t tries = 2;
  // Samples of a class on a device before only every `sparse`-th task is one.
  static constexpr std::uint64_t first_samples = 4;
  static constexpr std::uint64_t sparse = 32;

  struct on_device {
    std::uint64_t chosen = 0;    // all tasks of the class there, given ones too
    std::uint64_t explored = 0;  // of these, to learn
    std::uint64_t samples = 0;
    double mean = 0;  // seconds; recent samples weigh more
  };

  explicit placement_policy(int devices) : available_(static_cast<std::size_t>(devices), 0.0) {}

  // A class of tasks; `guess`: seconds that one is expected to take as long as nothing is measured.
  std::size_t new_class(double guess);
  // Chooses, and counts on the task from here on.
  placement choose(std::size_t task_class, const std::vector<placed_input>& inputs, double now);
  // The program has chosen.
  placement give(std::size_t task_class, int device, const std::vector<placed_input>& inputs, double now);

  // Whether the newest task of this class on this device should be measured.
  bool wants_sample(std::size_t task_class, int device) const;
  void measured(std::size_t task_class, int device, double seconds);
  // No task is left: every device is free.
  void all_over();

  int devices() const { return static_cast<int>(available_.size()); }
  const on_device& usage(std::size_t task_class, int device) const;
  // Seconds that a task of the class is expected to take there.
  double expected(std::size_t task_class, int device) const;

 private:
  struct task_class {
    double guess;
    std::vector<on_device> on;
  };
  placement plan(std::size_t task_class, int device, const std::vector<placed_input>& inputs, double now) const;
  placement count(std::size_t task_class, placement p);

  std::vector<task_class> classes_;
  std::vector<double> available_;  // by device: when all it has is expected to be over
};

}  // namespace starling::stf
