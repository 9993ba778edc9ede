// The barriers and reductions of a program: all its blocks must make the same ones in the same order. So must, of a
// team, those of its blocks that meet.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scheduled_block.hpp"

namespace starling::check {

class collectives {
 public:
  void reset(int programs, int n_pes);
  // The number of one program more: a launch whose blocks meet.
  int add_program();

  // The next collective of a block; says how it differs from what another block made in its place, or nothing.
  std::string enter(scheduled_block& a, const collective_call& c);

 private:
  struct made {
    collective_call what;
    int pe;
    int block;
  };
  // What blocks of one team have made, and how many of them each PE.
  struct of_meeting {
    std::vector<made> sequence;
    std::map<int, std::uint32_t> place;
  };
  static std::string compare(std::vector<made>& sequence, std::uint32_t place, const scheduled_block& a,
                             const collective_call& c);

  int n_pes_ = 0;
  std::vector<std::vector<made>> on_pe_;    // by program and PE: all of them
  std::vector<std::vector<made>> machine_;  // by program: those of the whole machine
  std::map<const void*, of_meeting> teams_;
};

}  // namespace starling::check
