#include "waits.hpp"

namespace starling::openshmem {

void check_comparison(int cmp) {
  expect<argument_error>(cmp >= SHMEM_CMP_EQ && cmp <= SHMEM_CMP_GE, call(), ": cmp = ", cmp,
                         "; must be one of SHMEM_CMP_EQ, NE, GT, LE, LT and GE");
}

std::size_t next_turn() {
  thread_local std::size_t turn = 0;
  return turn++;
}

std::string name_of_comparison(int cmp) {
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return "==";
    case SHMEM_CMP_NE:
      return "!=";
    case SHMEM_CMP_GT:
      return ">";
    case SHMEM_CMP_LE:
      return "<=";
    case SHMEM_CMP_LT:
      return "<";
    default:
      return ">=";
  }
}

}  // namespace starling::openshmem
