#include "launch_queues.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "starling/base/error.hpp"

namespace starling {
namespace {

constexpr const char* queues_variable = "CUDA_DEVICE_MAX_CONNECTIONS";
constexpr const char* loading_variable = "CUDA_MODULE_LOADING";

// Tools tell their part inside the process where they are by such variables.
bool is_of_a_tool(const std::string& name) {
  for (const char* start :
       {"CUDA_INJECTION64_PATH", "NV_SANITIZER_", "NV_COMPUTE_PROFILER_", "NV_NSIGHT_", "NV_TPS_", "NSYS_", "CUDBG_"})
    if (name.rfind(start, 0) == 0) return true;
  return false;
}

}  // namespace

int queues_needed(int pes_on_gpu) { return std::min(most_queues, usual_queues * pes_on_gpu); }

int queues_set(const variables& v) {
  const std::string text = value_of(v, queues_variable);
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = problem == std::errc() && end == text.data() + text.size();
  return number && value >= 1 && value <= most_queues ? value : usual_queues;
}

void prepare_to_share(int queues) {
  (void)::setenv(queues_variable, std::to_string(queues).c_str(), 0);
  (void)::setenv(loading_variable, "EAGER", 0);
}

std::string too_few_queues(int queues, int pes_on_gpu, bool context_was_there) {
  const int needed = queues_needed(pes_on_gpu);
  if (queues >= needed) return {};
  return message(context_was_there ? "CUDA was in use before the machine was made and has " : "CUDA has ", queues,
                 " hardware queues a GPU, ", pes_on_gpu, " PEs may need ", needed, ": set ", queues_variable, "=",
                 most_queues, " before the program starts");
}

std::string loaded_late(bool late) {
  if (!late) return {};
  return message("a kernel that is first met while others run may wait for them: set ", loading_variable,
                 "=EAGER before the program starts");
}

std::string too_many_waiting(int streams_of_a_pe, int pes_on_gpu, int queues) {
  if (2 * streams_of_a_pe * pes_on_gpu <= queues) return {};
  return message(streams_of_a_pe, " streams of each of ", pes_on_gpu,
                 " PEs on a GPU would wait for programs; at most half of its ", queues,
                 " hardware queues may: use fewer, or set ", queues_variable, "=", most_queues,
                 " before the program starts");
}

std::string serialising_settings(const variables& v, int pes_on_gpu) {
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  const std::string blocking = value_of(v, "CUDA_LAUNCH_BLOCKING");
  if (!blocking.empty() && blocking != "0") add(message("CUDA_LAUNCH_BLOCKING=", blocking, " (unset it)"));
  if (const int queues = queues_set(v); queues < queues_needed(pes_on_gpu))
    add(message(queues, " hardware queues (", queues_variable, "=", most_queues, " is best)"));
  for (const auto& [name, value] : v)
    if (is_of_a_tool(name)) {
      add(message(name, ", by which a profiler, debugger or sanitizer is in the process (run without it)"));
      break;
    }
  return text;
}

std::string no_answer(const std::string& machine, double seconds, const std::string& settings) {
  return message(
      "machine::cuda: ", machine, ", but their kernels do not run at the same time: they did not answer each ",
      "other within ", seconds, " s. Set in this process: ",
      settings.empty() ? "nothing that is known to cause it; a profiler or sanitizer may, or another process "
                         "that uses the GPU"
                       : settings,
      ". Use one PE per GPU, or machine::host(n)");
}

}  // namespace starling
