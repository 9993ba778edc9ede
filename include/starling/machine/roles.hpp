// Roles: which blocks of a persistent program do what (thread block specialisation, CPU-free execution, 4.1.2).
#pragma once

#include <string>
#include <vector>

#include "starling/device/program_state.hpp"

namespace starling {

// The blocks of one PE, partitioned among named roles. Every PE has the same plan.
class role_plan {
 public:
  // `blocks` in all on each PE, for roles that share by work. 0: as many as the counted roles add up to.
  explicit role_plan(int blocks = 0);

  // A role with a fixed number of blocks. The number returned is what block::role() answers.
  role add(const std::string& name, int blocks);

  // A role that gets blocks in proportion to its work, at least one, from those that counted roles leave.
  role add_share(const std::string& name, double work);

  // Numbers the blocks. Throws argument_error when there is no role, or fewer blocks than roles need.
  role_table resolve() const;

  int blocks() const;
  const std::string& name(role r) const;

 private:
  struct entry {
    std::string name;
    int blocks;  // 0: by work
    double work;
  };

  void check_new(const std::string& name) const;

  int blocks_;
  std::vector<entry> entries_;
};

}  // namespace starling
