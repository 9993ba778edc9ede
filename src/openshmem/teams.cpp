#include "teams.hpp"

#include <atomic>
#include <bit>
#include <cstddef>

#include "contexts.hpp"
#include "world.hpp"

namespace starling::openshmem {
namespace {

// A handle is an index and how often it has been used before, so that handles of destroyed teams are known as such.
constexpr std::uintptr_t indices = 4096;

shmem_team_t handle_of(std::size_t index, std::uintptr_t generation) {
  return reinterpret_cast<shmem_team_t>(generation * indices + index + 1);
}

std::size_t index_of(shmem_team_t handle) { return (reinterpret_cast<std::uintptr_t>(handle) - 1) % indices; }
std::uintptr_t generation_of(shmem_team_t handle) { return (reinterpret_cast<std::uintptr_t>(handle) - 1) / indices; }

constexpr std::size_t predefined = 2;  // the world, and the PEs that share memory

// The PEs of this host. Size 0: they are not `stride` from each other.
choice near_pes(const world& w) {
  std::vector<int> pes;
  for (int pe = 0; pe < w.size(); ++pe)
    if (w.is_near(pe)) pes.push_back(pe);
  const int stride = pes.size() > 1 ? pes[1] - pes[0] : 1;
  for (std::size_t i = 1; i < pes.size(); ++i)
    if (pes[i] - pes[i - 1] != stride) return {};
  return {pes[0], stride, static_cast<int>(pes.size())};
}

int contexts_of(const shmem_team_config_t* config, long mask) {
  expect<argument_error>((mask & ~SHMEM_TEAM_NUM_CONTEXTS) == 0, call(), ": config_mask = ", mask,
                         "; must be 0 or SHMEM_TEAM_NUM_CONTEXTS");
  if (mask == 0) return 0;
  expect<argument_error>(config != nullptr, call(), ": config is null, with a mask of ", mask,
                         "; give a configuration, or 0 as its mask");
  expect<argument_error>(config->num_contexts >= 0, call(), ": num_contexts = ", config->num_contexts,
                         "; must be at least 0");
  return config->num_contexts;
}

// Changes and gives what it was: a word of the places that a PE uses. `what`: fetch_or or fetch_and.
std::uint64_t change_used(world& w, int pe, std::size_t word, word_change what, std::uint64_t bits) {
  std::uint64_t& used = w.controls(pe).used[word];
  if (!w.is_near(pe)) return w.far().change(&used, {what, sizeof used, bits});
  const std::atomic_ref<std::uint64_t> near(used);
  return what == word_change::fetch_or ? near.fetch_or(bits) : near.fetch_and(bits);
}

std::uint64_t used_by(world& w, int pe, std::size_t word) { return change_used(w, pe, word, word_change::fetch_or, 0); }

std::size_t word_with(int slot) { return static_cast<std::size_t>(slot) / 64; }
std::uint64_t bit_of(int slot) { return std::uint64_t{1} << (slot % 64); }

// False: the PE uses the place already.
bool take(world& w, int pe, int slot) {
  return (change_used(w, pe, word_with(slot), word_change::fetch_or, bit_of(slot)) & bit_of(slot)) == 0;
}

void leave(world& w, int pe, int slot) {
  (void)change_used(w, pe, word_with(slot), word_change::fetch_and, ~bit_of(slot));
}

// For all of them, or, where one of them uses it, for none. Other threads may want the same place for some of them: all
// go by the numbers of the PEs, so that one gets it.
bool take(world& w, const members& all, int slot) {
  const auto pe = [&](int i) { return all.pe(all.stride > 0 ? i : all.size - 1 - i); };
  for (int i = 0; i < all.size; ++i) {
    if (take(w, pe(i), slot)) continue;
    while (i-- > 0) leave(w, pe(i), slot);
    return false;
  }
  return true;
}

}  // namespace

teams::teams(world& w) : w_(w) {
  const choice near = near_pes(w);
  teams_.push_back({true, 0, 1, w.size(), w.me(), 0, 0, 0});
  teams_.push_back({true, near.start, near.stride, near.size, (w.me() - near.start) / near.stride, 1, 0, 0});
  w.controls(w.me()).used[0] = (std::uint64_t{1} << predefined) - 1;
}

team teams::find(shmem_team_t handle) const {
  expect<argument_error>(handle != SHMEM_TEAM_INVALID, call(), ": the team is SHMEM_TEAM_INVALID");
  const std::size_t index = index_of(handle);
  const std::lock_guard lock(mutex_);
  const bool known = index < teams_.size() && teams_[index].alive && teams_[index].generation == generation_of(handle);
  expect<argument_error>(known, call(), ": ", static_cast<const void*>(handle),
                         " is no team of this PE; it may have been destroyed");
  expect<unsupported_error>(teams_[index].size > 0, call(),
                            ": SHMEM_TEAM_SHARED is not here: the PEs of this host are not at one distance from each "
                            "other; start the processes of each host one after the other, or by turns");
  return teams_[index];
}

members teams::members_of(shmem_team_t handle) const {
  const team t = find(handle);
  const std::size_t places = offsetof(control, places) + static_cast<std::size_t>(t.slot) * sizeof(meeting_place);
  return {t.start, t.stride, t.size, t.me, w_.controls_at() + places};
}

// The first place that none of them uses, which they use from now on; most_teams: there is none.
int teams::take_slot(const members& all) {
  for (std::size_t word = 0; word < most_teams / 64; ++word) {
    std::uint64_t used = 0;
    for (int i = 0; i < all.size; ++i) used |= used_by(w_, all.pe(i), word);
    for (; used != ~std::uint64_t{0}; used |= used + 1) {
      const int slot = static_cast<int>(64 * word) + std::countr_one(used);
      if (take(w_, all, slot)) return slot;
    }
  }
  return most_teams;
}

shmem_team_t teams::make(const team& parent, const members& all, const choice& mine, int contexts) {
  // The first member takes a place for all, and tells them.
  const int taken = all.me == 0 ? take_slot(all) : 0;
  meet(all, {operation::team_place, 0, 0, 0, 0, static_cast<std::uint64_t>(taken)});
  const int slot = static_cast<int>(said_by(all, 0).source);
  const bool found = slot < most_teams;
  if (found && mine.size == 0) leave(w_, w_.me(), slot);
  meet(all, {operation::done});
  if (!found)
    throw memory_error(message(call(), ": ", most_teams, " teams are alive; destroy some before making more"));
  if (mine.size == 0) return SHMEM_TEAM_INVALID;
  team fresh{true, parent.start + mine.start * parent.stride, mine.stride * parent.stride, mine.size, 0, slot, contexts,
             0};
  if (fresh.size > 1) fresh.me = (w_.me() - fresh.start) / fresh.stride;
  const std::lock_guard lock(mutex_);
  std::size_t index = 0;
  while (index < teams_.size() && teams_[index].alive) ++index;
  if (index == teams_.size()) teams_.emplace_back();
  fresh.generation = teams_[index].generation;
  teams_[index] = fresh;
  return handle_of(index, fresh.generation);
}

void teams::remove(shmem_team_t handle) {
  const team t = find(handle);
  expect<argument_error>(index_of(handle) >= predefined, call(),
                         ": SHMEM_TEAM_WORLD and SHMEM_TEAM_SHARED are not destroyed");
  meet(members_of(handle), {operation::destroy});
  leave(w_, w_.me(), t.slot);
  w_.all_contexts().remove_of(handle);
  const std::lock_guard lock(mutex_);
  teams_[index_of(handle)].alive = false;
  ++teams_[index_of(handle)].generation;
}

int team_my_pe(shmem_team_t t) {
  world& w = world::here();
  return t == SHMEM_TEAM_INVALID ? -1 : w.all_teams().find(t).me;
}

int team_n_pes(shmem_team_t t) {
  world& w = world::here();
  return t == SHMEM_TEAM_INVALID ? -1 : w.all_teams().find(t).size;
}

int team_get_config(shmem_team_t t, long mask, shmem_team_config_t* config) {
  world& w = world::here();
  if (t == SHMEM_TEAM_INVALID) return -1;
  const team found = w.all_teams().find(t);
  if (mask == 0) return 0;
  expect<argument_error>(mask == SHMEM_TEAM_NUM_CONTEXTS && config != nullptr, call(), ": config_mask = ", mask,
                         "; must be 0, or SHMEM_TEAM_NUM_CONTEXTS with a configuration to fill");
  config->num_contexts = found.contexts;
  return 0;
}

int team_translate_pe(shmem_team_t from, int pe, shmem_team_t to) {
  world& w = world::here();
  if (from == SHMEM_TEAM_INVALID || to == SHMEM_TEAM_INVALID) return -1;
  const team a = w.all_teams().find(from);
  const team b = w.all_teams().find(to);
  if (pe < 0 || pe >= a.size) return -1;
  const int away = a.start + pe * a.stride - b.start;
  if (b.size == 1) return away == 0 ? 0 : -1;
  const int there = away / b.stride;
  return away % b.stride == 0 && there >= 0 && there < b.size ? there : -1;
}

int team_split_strided(shmem_team_t parent, int start, int stride, int size, const shmem_team_config_t* config,
                       long mask, shmem_team_t* made) {
  world& w = world::here();
  *made = SHMEM_TEAM_INVALID;
  const team t = w.all_teams().find(parent);
  const members all = w.all_teams().members_of(parent);
  const auto low = [](int n) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(n)); };
  meet(all, {operation::split_strided, 0, low(start), low(stride), low(size)});
  const int contexts = contexts_of(config, mask);
  expect<range_error>(size >= 1 && size <= t.size, call(), ": size = ", size, "; must be from 1 to ", t.size);
  expect<range_error>(start >= 0 && start < t.size, call(), ": start = ", start, "; must be from 0 to ", t.size - 1);
  expect<argument_error>(stride != 0 || size == 1, call(), ": stride = 0; must not be 0 for ", size, " PEs");
  const std::int64_t last = start + static_cast<std::int64_t>(size - 1) * stride;
  expect<range_error>(last >= 0 && last < t.size, call(), ": the last PE would be ", last, " of the parent, which has ",
                      t.size);
  const int away = t.me - start;
  const bool in = size == 1 ? away == 0 : away % stride == 0 && away / stride >= 0 && away / stride < size;
  *made = w.all_teams().make(t, all, in ? choice{start, size == 1 ? 1 : stride, size} : choice{}, contexts);
  return 0;
}

int team_split_2d(shmem_team_t parent, int xrange, const wanted_team& x, const wanted_team& y) {
  world& w = world::here();
  *x.handle = SHMEM_TEAM_INVALID;
  *y.handle = SHMEM_TEAM_INVALID;
  const team t = w.all_teams().find(parent);
  const members all = w.all_teams().members_of(parent);
  meet(all, {operation::split_2d, 0, static_cast<std::uint64_t>(static_cast<std::uint32_t>(xrange))});
  expect<range_error>(xrange >= 1, call(), ": xrange = ", xrange, "; must be at least 1");
  const int contexts_x = contexts_of(x.config, x.mask);
  const int contexts_y = contexts_of(y.config, y.mask);
  const int width = xrange < t.size ? xrange : t.size;
  const int column = t.me % width;
  const int row = t.me / width;
  const int row_start = row * width;
  const int in_row = t.size - row_start < width ? t.size - row_start : width;
  const int in_column = (t.size - column + width - 1) / width;
  const shmem_team_t made = w.all_teams().make(t, all, {row_start, 1, in_row}, contexts_x);
  *y.handle = w.all_teams().make(t, all, {column, width, in_column}, contexts_y);
  *x.handle = made;
  return 0;
}

void team_destroy(shmem_team_t t) {
  world& w = world::here();
  if (t != SHMEM_TEAM_INVALID) w.all_teams().remove(t);
}

}  // namespace starling::openshmem
