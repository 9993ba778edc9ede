// Contexts. What a call puts is there when it returns, on PEs of other hosts at the next quiet of any context; so a
// context only tells which team its PEs are numbered in, and that it is one.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <vector>

#include "shmem.h"

namespace starling::openshmem {

class contexts {
 public:
  shmem_ctx_t make(shmem_team_t team);
  void remove(shmem_ctx_t ctx);
  // All contexts of a team.
  void remove_of(shmem_team_t team);
  // Throws argument_error for a handle that is none of a context.
  shmem_team_t team_of(shmem_ctx_t ctx) const;

 private:
  struct entry {
    bool alive = false;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    std::uintptr_t generation = 0;
  };

  std::size_t find(shmem_ctx_t ctx) const;

  mutable std::shared_mutex mutex_;
  std::vector<entry> entries_;
};

// The PE of the world that a context means. Throws range_error for one that its team does not have.
int pe_of(shmem_ctx_t ctx, int pe);

// What the functions do.
int ctx_create(long options, shmem_ctx_t* ctx);
int team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx);
void ctx_destroy(shmem_ctx_t ctx);
int ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team);
void ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config, long mask);
void ctx_session_stop(shmem_ctx_t ctx);
// Of each PE, what was put before is there before what is put after; and all that was put is there.
void fence(shmem_ctx_t ctx);
void quiet(shmem_ctx_t ctx);
void pe_quiet(shmem_ctx_t ctx, const int* pes, std::size_t n);

}  // namespace starling::openshmem
