#include "contexts.hpp"

#include <atomic>
#include <mutex>

#include "teams.hpp"
#include "world.hpp"

namespace starling::openshmem {
namespace {

// As handles of teams are made; 1 is SHMEM_CTX_DEFAULT.
constexpr std::uintptr_t indices = std::uintptr_t{1} << 20;
constexpr std::uintptr_t first = 2;

shmem_ctx_t handle_of(std::size_t index, std::uintptr_t generation) {
  return reinterpret_cast<shmem_ctx_t>(generation * indices + index + first);
}

int create(shmem_team_t team, long options, shmem_ctx_t* ctx) {
  world& w = world::here();
  *ctx = SHMEM_CTX_INVALID;
  constexpr long known = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
  expect<argument_error>((options & ~known) == 0, call(), ": options = ", options,
                         "; must be made of SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE and SHMEM_CTX_NOSTORE");
  (void)w.all_teams().find(team);
  *ctx = w.all_contexts().make(team);
  return 0;
}

void check(shmem_ctx_t ctx) {
  world& w = world::here();
  if (ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT) (void)w.all_contexts().team_of(ctx);
}

}  // namespace

std::size_t contexts::find(shmem_ctx_t ctx) const {
  const auto number = reinterpret_cast<std::uintptr_t>(ctx) - first;
  const std::size_t index = number % indices;
  const bool known = index < entries_.size() && entries_[index].alive && entries_[index].generation == number / indices;
  expect<argument_error>(known, call(), ": ", static_cast<const void*>(ctx),
                         ctx == SHMEM_CTX_INVALID ? ", SHMEM_CTX_INVALID," : "",
                         " is no context of this PE; it may have been destroyed, or its team");
  return index;
}

shmem_ctx_t contexts::make(shmem_team_t team) {
  const std::unique_lock lock(mutex_);
  std::size_t index = 0;
  while (index < entries_.size() && entries_[index].alive) ++index;
  expect<memory_error>(index < indices, call(), ": ", index, " contexts are alive; destroy some before making more");
  if (index == entries_.size()) entries_.emplace_back();
  entries_[index].alive = true;
  entries_[index].team = team;
  return handle_of(index, entries_[index].generation);
}

void contexts::remove(shmem_ctx_t ctx) {
  const std::unique_lock lock(mutex_);
  entry& e = entries_[find(ctx)];
  e.alive = false;
  ++e.generation;
}

void contexts::remove_of(shmem_team_t team) {
  const std::unique_lock lock(mutex_);
  for (entry& e : entries_) {
    if (!e.alive || e.team != team) continue;
    e.alive = false;
    ++e.generation;
  }
}

shmem_team_t contexts::team_of(shmem_ctx_t ctx) const {
  const std::shared_lock lock(mutex_);
  return entries_[find(ctx)].team;
}

int pe_of(shmem_ctx_t ctx, int pe) {
  if (ctx == SHMEM_CTX_DEFAULT) return pe;
  world& w = world::here();
  const shmem_team_t handle = w.all_contexts().team_of(ctx);
  if (handle == SHMEM_TEAM_WORLD) return pe;
  const team t = w.all_teams().find(handle);
  expect<range_error>(pe >= 0 && pe < t.size, call(), ": pe = ", pe, "; must be from 0 to ", t.size - 1,
                      " in the context's team");
  return t.start + pe * t.stride;
}

int ctx_create(long options, shmem_ctx_t* ctx) { return create(SHMEM_TEAM_WORLD, options, ctx); }

int team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) {
  if (team != SHMEM_TEAM_INVALID) return create(team, options, ctx);
  *ctx = SHMEM_CTX_INVALID;
  return -1;
}

void ctx_destroy(shmem_ctx_t ctx) {
  world& w = world::here();
  expect<argument_error>(ctx != SHMEM_CTX_DEFAULT, call(), ": SHMEM_CTX_DEFAULT is not destroyed");
  if (ctx != SHMEM_CTX_INVALID) w.all_contexts().remove(ctx);
}

int ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team) {
  world& w = world::here();
  *team = SHMEM_TEAM_INVALID;
  if (ctx == SHMEM_CTX_INVALID) return -1;
  *team = ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : w.all_contexts().team_of(ctx);
  return 0;
}

void ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config, long mask) {
  if (ctx == SHMEM_CTX_INVALID) return;
  quiet(ctx);
  expect<argument_error>((options & ~SHMEM_CTX_SESSION_BATCH) == 0, call(), ": options = ", options,
                         "; must be 0 or SHMEM_CTX_SESSION_BATCH");
  expect<argument_error>(mask == 0 || (mask == SHMEM_CTX_SESSION_TOTAL_OPS && config != nullptr), call(),
                         ": config_mask = ", mask, "; must be 0, or SHMEM_CTX_SESSION_TOTAL_OPS with a configuration");
}

void ctx_session_stop(shmem_ctx_t ctx) { quiet(ctx); }

// What is sent to a PE of another host is done in the order in which it was sent.
void fence(shmem_ctx_t ctx) {
  check(ctx);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void quiet(shmem_ctx_t ctx) {
  check(ctx);
  if (ctx != SHMEM_CTX_INVALID) world::here().finish();
}

void pe_quiet(shmem_ctx_t ctx, const int* pes, std::size_t n) {
  world& w = world::here();
  for (std::size_t i = 0; i < n; ++i) w.check_pe(pe_of(ctx, pes[i]), "target_pes");
  quiet(ctx);
}

}  // namespace starling::openshmem
