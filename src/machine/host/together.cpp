#include "together.hpp"

#include <system_error>
#include <thread>

#include "starling/base/error.hpp"

namespace starling::host {

std::string run_together(const std::vector<running*>& programs, index_range pes) {
  std::vector<std::thread> workers;
  std::string problem;
  try {
    for (running* r : programs)
      for (auto pe = static_cast<int>(pes.begin); pe < pes.end; ++pe)
        for (int b = 0; b < r->state(pe).n_blocks; ++b) workers.emplace_back([r, pe, b] { r->run_block(pe, b); });
  } catch (const std::system_error& e) {
    run_group& group = programs.front()->group();
    group.ended.set();
    group.lot.wake_all();
    problem = message("the system gave only ", workers.size(), " threads for the blocks (", e.what(),
                      "); use fewer blocks or devices");
  }
  for (std::thread& w : workers) w.join();
  return problem;
}

}  // namespace starling::host
