// Measures how long messages, copies and meetings take between the devices of a machine.
#pragma once

#include "comm/options.hpp"

namespace starling::comm {

// All that the options ask for; each result is also told as soon as it is there. Every kind of result is measured once
// to warm up and then as often as wanted; a wait has the machine's deadline.
std::vector<measurement> measure_all(machine& m, const bench_options& o,
                                     const std::function<void(const measurement&)>& told = {});

}  // namespace starling::comm
