// How a task uses a piece of logical data.
#pragma once

#include <memory>

#include "starling/stf/place.hpp"

namespace starling::stf {

class data_state;

enum class access_mode { read, write, rw };

constexpr const char* name(access_mode mode) {
  return mode == access_mode::read ? "read" : mode == access_mode::write ? "write" : "rw";
}

constexpr bool reads(access_mode mode) { return mode != access_mode::write; }
constexpr bool writes(access_mode mode) { return mode != access_mode::read; }

// One dependency of a task, without the type of the data.
struct data_access {
  std::shared_ptr<data_state> data;
  access_mode mode = access_mode::read;
  data_place place;
};

}  // namespace starling::stf
