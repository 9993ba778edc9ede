// A program under way on the GPUs of this process; see program_runner.
#pragma once

#include <chrono>

#include "program_runner.hpp"

namespace starling::on_cuda {

// How long a program that has been ended may go on before it is left alone.
inline constexpr auto grace = std::chrono::seconds(1);

struct program_runner::running {
  const program* what = nullptr;
  program_lane* on = nullptr;
  role_table roles;
  double deadline = 0;
  std::size_t local_bytes = 0;
  bool traced = false;
  bool cards = false;          // it is the machine's network cards, which serve the other programs
  std::vector<bool> launched;  // by PE
  std::vector<bool> ended;
  bool over = false;                  // on all PEs
  bool failed = false;                // a block has reported, and the program is over or left alone
  std::vector<block_report> reports;  // of a program that failed, in whichever process

  bool reported() const { return on->reported(roles.first[roles.count]); }
};

}  // namespace starling::on_cuda
