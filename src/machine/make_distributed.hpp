// How a machine of GPUs of several processes is made with an engine of the caller's; tests bring one of their own.
#pragma once

#include <memory>
#include <string>

#include "backend.hpp"
#include "distributed/engine.hpp"
#include "distributed/process_place.hpp"

namespace starling {

// `carrier`: null where all processes are on one host; `host`: as of engine_group. There is a GPU.
std::shared_ptr<backend> make_distributed_gpus(const distributed_options& options, const process_place& place,
                                               std::unique_ptr<engine> carrier, const std::string& host);

}  // namespace starling
