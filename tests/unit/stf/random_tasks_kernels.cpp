// Random programs of tasks give the values of the sequential loop, on streams and graphs, with and without a cap.
#include "support/repetitions.hpp"
#include "support/task_program.hpp"
#include "support/test_machine.hpp"

namespace starling::test::random_tasks_tests {
namespace {

void check_program(random& r, const stf::context_options& options, int n_pes, int data, int steps, int epoch) {
  const auto m = test_machine(n_pes);
  if (!m) return;
  const task_program p = random_task_program(r, n_pes, data, steps);
  task_values expected = random_task_values(r, p);
  task_values values = expected;
  run_in_order(p, expected);
  INFO("seed " << r.seed << ", " << n_pes << " devices\n" << p.text());
  stf::context ctx(*m, options);
  run_tasks(p, ctx, values, epoch);
  CHECK(values == expected);
}

TEST_CASE("random tasks on streams") {
  random r(1);
  for (int n_pes = 1; n_pes <= 4; ++n_pes)
    for (int i = 0; i < repetitions(20); ++i) check_program(r, {}, n_pes, 2 + static_cast<int>(r.below(6)), 40, 0);
}

TEST_CASE("random tasks in graphs") {
  random r(2);
  for (int n_pes = 1; n_pes <= 4; ++n_pes)
    for (int i = 0; i < repetitions(10); ++i)
      check_program(r, {.backend = stf::backend_kind::graph}, n_pes, 2 + static_cast<int>(r.below(6)), 40,
                    static_cast<int>(r.below(15)));
}

TEST_CASE("random tasks with little memory") {
  random r(3);
  for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::graph})
    for (int n_pes = 1; n_pes <= 3; ++n_pes)
      for (int i = 0; i < repetitions(10); ++i)
        check_program(r, {.backend = backend, .device_memory = 4 * 768}, n_pes, 8, 40, static_cast<int>(r.below(15)));
}

}  // namespace
}  // namespace starling::test::random_tasks_tests
