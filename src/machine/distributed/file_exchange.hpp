// Hands open files of each process of one host to all others: memory of GPUs, as a file that stands for it.
#pragma once

#include <vector>

#include "process_group.hpp"

namespace starling {

class file_exchange {
 public:
  // Collective. Each process listens at a name of its own that lies in no folder; `deadline`: seconds until the others
  // have come to an exchange.
  file_exchange(process_group& processes, double deadline);

  // Collective: the files of all processes by rank; this one's own place stays closed. Throws process_error that names
  // who has not come.
  std::vector<file> exchange(const char* call, const file& mine);

 private:
  std::string name_of(int rank) const;
  void give(int rank, const file& mine) const;
  void take(std::vector<file>& all, local_socket::time_point limit) const;

  process_group& processes_;
  double deadline_;
  file listener_;
};

}  // namespace starling
