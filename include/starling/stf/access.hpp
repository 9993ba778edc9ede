// How a task uses a piece of logical data.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "starling/stf/detail/call_site.hpp"
#include "starling/stf/place.hpp"

namespace starling::stf {

class data_state;
class task_reduction;

enum class access_mode { read, write, rw };

constexpr const char* name(access_mode mode) {
  return mode == access_mode::read ? "read" : mode == access_mode::write ? "write" : "rw";
}

constexpr bool reads(access_mode mode) { return mode != access_mode::write; }
constexpr bool writes(access_mode mode) { return mode != access_mode::read; }

// Bytes of other data that a task sees before and after the data that it reads: rows of neighbours, copied to there
// when they have changed.
struct ghost_rows {
  struct source {
    std::shared_ptr<data_state> data;
    std::size_t from = 0;   // in `data`
    std::ptrdiff_t to = 0;  // from where the data begins that the task reads
    std::size_t bytes = 0;
  };
  std::size_t before = 0;  // bytes of them before the data
  std::vector<source> sources;
};

// One dependency of a task, without the type of the data.
struct data_access {
  std::shared_ptr<data_state> data;
  access_mode mode = access_mode::read;
  data_place place;
  std::shared_ptr<const ghost_rows> ghosts = nullptr;  // with access_mode::read only; null: none
  // The task gets an instance of its own, which is combined with what others give; null: it does not. With
  // access_mode::write the old value does not take part, with rw it does.
  std::shared_ptr<const task_reduction> reduces = nullptr;
  call_site at = no_call_site;  // where it was named
  bool last_use = false;        // the copy may give way before all that tasks will use
};

}  // namespace starling::stf
