// Teams: PEs start, start + stride, ... of the world, each with a place at which its members meet. This PE knows the
// teams that it is a member of.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "meeting.hpp"

namespace starling::openshmem {

class world;

struct team {
  bool alive = false;
  int start = 0;
  int stride = 1;
  int size = 0;
  int me = 0;
  int slot = 0;  // of control::places
  int contexts = 0;
  std::uintptr_t generation = 0;
};

// Which PEs a new team has, by their numbers in its parent; size 0: this PE is in none.
struct choice {
  int start = 0;
  int stride = 1;
  int size = 0;
};

class teams {
 public:
  explicit teams(world& w);

  // Throws argument_error for a handle that is none of a team.
  team find(shmem_team_t handle) const;
  members members_of(shmem_team_t handle) const;
  // Collective over the parent, whose members have met. Each says which new team it will be in.
  shmem_team_t make(const team& parent, const members& all, const choice& mine, int contexts);
  void remove(shmem_team_t handle);

 private:
  int take_slot(const members& all);

  world& w_;
  mutable std::mutex mutex_;
  std::vector<team> teams_;
};

// A team of a split: what is asked of it, and where its handle goes.
struct wanted_team {
  const shmem_team_config_t* config;
  long mask;
  shmem_team_t* handle;
};

// What the functions do.
int team_my_pe(shmem_team_t t);
int team_n_pes(shmem_team_t t);
int team_get_config(shmem_team_t t, long mask, shmem_team_config_t* config);
int team_translate_pe(shmem_team_t from, int pe, shmem_team_t to);
int team_split_strided(shmem_team_t parent, int start, int stride, int size, const shmem_team_config_t* config,
                       long mask, shmem_team_t* made);
int team_split_2d(shmem_team_t parent, int xrange, const wanted_team& x, const wanted_team& y);
void team_destroy(shmem_team_t t);

}  // namespace starling::openshmem
