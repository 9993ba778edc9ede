// Where measured costs are kept: one small JSON file for each kind of machine, and for each number of PEs that share a
// GPU, in the user's cache directory.
#pragma once

#include <map>

#include "stencil/plan/cost_model.hpp"

namespace starling::stencil {

// $XDG_CACHE_HOME/starling/stencil_<kind>.json, or ~/.cache/... without it; empty when there is neither. Of PEs that
// share a GPU stencil_<kind>_pes<number>.json.
std::string cost_file(machine_kind kind, int pes_on_gpu = 1);

// What the file says, measured on `device`. Throws argument_error that names the file, what is wrong with it, and how
// to get a good one.
step_costs read_costs(const std::string& path, const std::string& device);

// The costs by the names that they have in the file.
std::map<std::string, double> by_name(const step_costs& costs);

// Makes the folders that are missing; the file is there completely or not at all. Throws argument_error.
void write_costs(const std::string& path, const step_costs& costs, const std::string& device);

// The costs of the file for this kind of machine; the built-in ones where there is none.
step_costs costs_of(machine_kind kind, const std::string& device, int pes_on_gpu = 1);

}  // namespace starling::stencil
