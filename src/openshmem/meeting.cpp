#include "meeting.hpp"

#include <atomic>
#include <string>

#include "far_meetings.hpp"
#include "teams.hpp"
#include "world.hpp"

namespace starling::openshmem {
namespace {

// The first word of a place.
constexpr std::int64_t nobody = 0;
constexpr std::int64_t come = 1;
constexpr std::int64_t disagreed = 2;  // and who, by number, of those that disagree with the first

// In shared memory.
std::int64_t& word_of(const members& m, int i, int word) {
  std::byte* place = world::here().on(m.pe(i), m.place);
  return *(reinterpret_cast<std::int64_t*>(place) + word);
}

std::atomic_ref<std::int64_t> flag_of(const members& m, int i) {
  return std::atomic_ref<std::int64_t>(word_of(m, i, 0));
}

const char* name_of(operation what) {
  switch (what) {
    case operation::finalize:
      return "shmem_finalize";
    case operation::allocate:
      return "shmem_malloc";
    case operation::release:
      return "shmem_free";
    case operation::barrier_all:
      return "shmem_barrier_all";
    case operation::sync_all:
      return "shmem_sync_all";
    case operation::team_sync:
      return "shmem_team_sync";
    case operation::barrier:
      return "shmem_barrier";
    case operation::sync:
      return "shmem_sync";
    case operation::split_strided:
      return "shmem_team_split_strided";
    case operation::split_2d:
      return "shmem_team_split_2d";
    case operation::team_place:
      return "the choice of a place for new teams";
    case operation::destroy:
      return "shmem_team_destroy";
    case operation::broadcast:
      return "shmem_broadcast";
    case operation::collect:
      return "shmem_collect";
    case operation::fcollect:
      return "shmem_fcollect";
    case operation::alltoall:
      return "shmem_alltoall";
    case operation::alltoalls:
      return "shmem_alltoalls";
    case operation::and_reduce:
      return "shmem_and_reduce";
    case operation::or_reduce:
      return "shmem_or_reduce";
    case operation::xor_reduce:
      return "shmem_xor_reduce";
    case operation::max_reduce:
      return "shmem_max_reduce";
    case operation::min_reduce:
      return "shmem_min_reduce";
    case operation::sum_reduce:
      return "shmem_sum_reduce";
    case operation::prod_reduce:
      return "shmem_prod_reduce";
    case operation::inscan:
      return "shmem_sum_inscan";
    case operation::exscan:
      return "shmem_sum_exscan";
    case operation::done:
      return "the end of a collective";
  }
  return "a call of another build";
}

std::int64_t signed_word(std::uint64_t n) { return static_cast<std::int64_t>(n); }

void say(const members& m, const notice& mine) {
  const auto head = static_cast<std::uint64_t>(mine.what) | static_cast<std::uint64_t>(mine.element) << 8;
  const std::uint64_t words[] = {head, mine.n, mine.other, mine.third, mine.source, mine.dest};
  int at = 1;
  for (const std::uint64_t w : words)
    std::atomic_ref(word_of(m, m.me, at++)).store(signed_word(w), std::memory_order_relaxed);
}

std::string shown(const notice& n) {
  if (n.what == operation::allocate || n.what == operation::release)
    return message(name_of(n.what), " of ", n.n, " bytes");
  std::string text = name_of(n.what);
  if (n.element > 0) text += message(" of ", n.n, " elements of ", n.element, " bytes");
  if (n.what == operation::broadcast)
    text += message(" from root ", n.other);
  else if (n.other != 0 || n.third != 0)
    text += message(" with (", signed_word(n.other), ", ", signed_word(n.third), ")");
  return text;
}

[[noreturn]] void disagree(const members& m, int other) {
  throw argument_error(message(call(), ": PE ", m.pe(0), " is in ", shown(said_by(m, 0)), ", PE ", m.pe(other), " in ",
                               shown(said_by(m, other)),
                               "; a collective call is made by all members with the same arguments"));
}

// The first member waits for the others. Gives the first that does not say the same; 0: all do.
int gather(world& w, const members& m, const notice& mine, bool compare) {
  int other = 0;
  for (int i = 1; i < m.size; ++i) {
    auto flag = flag_of(m, i);
    w.wait_for_change(
        &word_of(m, i, 0), [&] { return flag.load() == come; }, [&] { return did_not_come(m, i, mine.what); });
    if (compare && other == 0 && !alike(mine, said_by(m, i))) other = i;
  }
  return other;
}

// Gives the same to all of them.
int meet_once(world& w, const members& m, const notice& mine, bool compare) {
  if (m.size == 1) return 0;
  auto own = flag_of(m, m.me);
  if (m.me == 0) {
    const int other = gather(w, m, mine, compare);
    for (int i = 1; i < m.size; ++i) {
      flag_of(m, i).store(other == 0 ? nobody : disagreed + other);
      w.changed(&word_of(m, i, 0));
    }
    return other;
  }
  own.store(come);
  w.changed(&word_of(m, m.me, 0));
  w.wait_for_change(
      &word_of(m, m.me, 0), [&] { return own.load() != come; }, [&] { return did_not_end(m, mine.what); },
      first_is_slower);
  const std::int64_t end = own.load();
  own.store(nobody);
  return end == nobody ? 0 : static_cast<int>(end - disagreed);
}

}  // namespace

bool alike(const notice& a, const notice& b) {
  const bool n_too = a.what != operation::collect;
  return a.what == b.what && a.element == b.element && (!n_too || a.n == b.n) && a.other == b.other &&
         a.third == b.third;
}

std::string did_not_come(const members& m, int i, operation what) {
  return message("PE ", m.pe(i), " did not come to ", name_of(what));
}

std::string did_not_end(const members& m, operation what) {
  return message("PE ", m.pe(0), ", which waits for all, did not end ", name_of(what));
}

notice said_by(const members& m, int i) {
  if (far_meetings& far = world::here().meetings(); far.needed_for(m)) return far.said_by(m, i);
  const auto word = [&](int at) {
    return static_cast<std::uint64_t>(std::atomic_ref(word_of(m, i, at)).load(std::memory_order_relaxed));
  };
  const std::uint64_t head = word(1);
  return {static_cast<operation>(head & 255), head >> 8, word(2), word(3), word(4), word(5), word(6)};
}

members everyone() { return whole(SHMEM_TEAM_WORLD); }

members whole(shmem_team_t team) { return world::here().all_teams().members_of(team); }

members active_set(int start, int log_stride, int size, long* pSync) {
  world& w = world::here();
  constexpr int most_log = 30;
  expect<range_error>(log_stride >= 0 && log_stride <= most_log, call(), ": logPE_stride = ", log_stride,
                      "; must be from 0 to ", most_log);
  expect<range_error>(size >= 1 && size <= w.size(), call(), ": PE_size = ", size, "; must be from 1 to ", w.size());
  w.check_pe(start, "PE_start");
  const std::int64_t last = start + (static_cast<std::int64_t>(size - 1) << log_stride);
  expect<range_error>(last < w.size(), call(), ": the last PE of the active set would be ", last, "; there are ",
                      w.size());
  const int stride = 1 << log_stride;
  const int mine = w.me() - start;
  expect<argument_error>(mine >= 0 && mine % stride == 0 && mine / stride < size, call(), ": PE ", w.me(),
                         " is not in the active set (", start, ", ", log_stride, ", ", size,
                         "); only its members make the call");
  const members m{start, stride, size, mine / stride, w.place(pSync, sizeof(meeting_place), "pSync")};
  expect<argument_error>(m.place % alignof(long) == 0 && *pSync == SHMEM_SYNC_VALUE, call(), ": pSync[0] is ", *pSync,
                         "; set all its words to SHMEM_SYNC_VALUE, and use it for one call at a time");
  return m;
}

void meet(const members& m, const notice& mine) {
  world& w = world::here();
  w.finish();
  // At the end of a collective others may still read what was said at its beginning.
  const bool is_end = mine.what == operation::done;
  if (far_meetings& far = w.meetings(); far.needed_for(m)) {
    if (const int other = far.meet(m, mine, !is_end); other != 0) disagree(m, other);
    return;
  }
  if (!is_end) say(m, mine);
  const int other = meet_once(w, m, mine, !is_end);
  if (other == 0) return;
  try {
    disagree(m, other);
  } catch (const error&) {
    (void)meet_once(w, m, mine, false);  // now all have read what was said
    throw;
  }
}

}  // namespace starling::openshmem
