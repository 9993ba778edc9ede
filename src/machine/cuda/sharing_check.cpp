#include "sharing_check.hpp"

#include <algorithm>

#include "../launch_queues.hpp"
#include "answer.hpp"
#include "device_guard.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {
namespace {

constexpr double answer_deadline = 1.0;  // seconds

// A signal in the control words, zero on every PE.
class control_signal {
 public:
  explicit control_signal(const parts& machine) : machine_(machine), offset_(machine.control.allocate(sizeof(signal))) {
    device_guard guard;
    for (const gpu& g : machine_.driven()) {
      guard.use(g.id);
      check(cudaMemsetAsync(machine_.control.on(offset_, g.pe), 0, sizeof(signal), g.service.get()),
            "cudaMemsetAsync (answers)", g.pe);
      check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize (answers)", g.pe);
    }
  }
  ~control_signal() { machine_.control.free(offset_); }
  control_signal(const control_signal&) = delete;
  control_signal& operator=(const control_signal&) = delete;

  sym<signal> get() const {
    return {reinterpret_cast<signal*>(machine_.control.on(offset_, 0)), machine_.control.where().stride};
  }

 private:
  const parts& machine_;
  std::size_t offset_;
};

}  // namespace

bool any_shared(const std::vector<gpu>& gpus) {
  return std::any_of(gpus.begin(), gpus.end(), [](const gpu& g) { return g.shared(); });
}

void require_answers(const parts& machine, program_runner& runner) {
  const control_signal heard(machine);
  program p;
  p.roles.add("answer", 1);
  p.k = answer_kernel(heard.get());
  p.options.threads = 32;
  p.options.deadline = answer_deadline;
  try {
    runner.run({p}, nullptr);
  } catch (const stall_error&) {
    std::vector<device_info> infos;
    int most = 1;
    for (const gpu& g : machine.driven()) {
      infos.push_back(g.info);
      most = std::max(most, g.info.pes_on_gpu);
    }
    throw launch_error(no_answer(summary(machine_kind::cuda, infos), answer_deadline,
                                 serialising_settings(environment_variables(), most)));
  }
}

}  // namespace starling::on_cuda
