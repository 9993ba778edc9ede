// Programs that were ended and still run: what waits for them, and what is cleared when they are over.
#include <thread>

#include "device_guard.hpp"
#include "running_program.hpp"

namespace starling::on_cuda {

void program_runner::leave_alone(const std::vector<running>& all) {
  left_ = all;
  for (running& r : left_) r.what = nullptr;  // the caller's
  busy_ = true;
}

int program_runner::settle() {
  if (left_.empty()) return no_pe;
  device_guard guard;
  int busy = no_pe;
  for (running& r : left_) {
    for (const gpu& g : machine_.driven()) {
      const auto pe = static_cast<std::size_t>(g.pe);
      if (!r.launched[pe] || r.ended[pe]) continue;
      cudaError_t state = guard.select(g.id);
      if (state == cudaSuccess) state = cudaStreamQuery(r.on->stream(g.pe));
      if (state != cudaSuccess) (void)cudaGetLastError();
      r.ended[pe] = state != cudaErrorNotReady;  // an error will be found by the next call of CUDA
      if (!r.ended[pe]) busy = g.pe;
    }
  }
  if (busy != no_pe) return busy;
  std::exception_ptr lost;  // of a program whose outcome has been told
  finish_copies(lost);
  await_ends_sent();
  for (const running& r : left_) {
    r.on->clear_reports();
    r.on->clear_control();
  }
  left_.clear();
  busy_ = false;
  return no_pe;
}

void program_runner::require_idle(const char* call) {
  if (!busy_) return;
  const std::lock_guard lock(mutex_);
  expect_idle(call);
}

void program_runner::expect_idle(const char* call) {
  const int pe = settle();
  if (pe == no_pe) return;
  throw device_error(message(call, ": ", describe(machine_.on(pe)),
                             " still runs blocks of a program that has been ended; they loop without waiting, which "
                             "nothing ends. Call again once they have returned, or end the process; bound such loops, "
                             "or let them wait or test"));
}

bool program_runner::becomes_idle() noexcept {
  if (!busy_) return true;
  try {
    const std::lock_guard lock(mutex_);
    const auto limit = std::chrono::steady_clock::now() + grace;
    while (settle() != no_pe) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (...) {
  }
  return true;
}

}  // namespace starling::on_cuda
