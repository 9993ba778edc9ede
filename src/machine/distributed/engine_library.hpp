// Engines are libraries of their own, named starling_<engine>_engine.so, loaded when a machine of several hosts is
// made.
#pragma once

#include <memory>
#include <string>

#include "engine.hpp"

namespace starling {

// Changes with the class engine.
inline constexpr int engine_interface = 3;

// What such a library has, under the name below. `made` is null where it could not be; then `problem` says why.
struct made_engine {
  int interface = engine_interface;
  engine* made = nullptr;
  char problem[400] = {};
};
using engine_maker = made_engine (*)();
inline constexpr const char* engine_maker_name = "starling_make_engine";

// Looks in the folder of the program or module that this is linked into, in ../lib from there, and where the system
// looks for libraries. Throws unsupported_error that says where it has looked, or why the engine cannot be had.
std::unique_ptr<engine> load_engine(const std::string& name);

}  // namespace starling
