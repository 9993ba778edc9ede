#include "far_meetings.hpp"

#include <cstring>
#include <utility>

#include "world.hpp"

namespace starling::openshmem {
namespace {

std::vector<notice> notices_of(const message_view& m) {
  std::vector<notice> all(m.bytes / sizeof(notice));
  if (m.bytes > 0) std::memcpy(all.data(), m.data, m.bytes);
  return all;
}

}  // namespace

far_meetings::far_meetings(world& w) : w_(w), messages_(w.all_processes().messages()) {
  if (messages_ == nullptr) return;
  messages_->handle(message_kind::come, [this](int, const message_view& m) {
    {
      const std::lock_guard lock(mutex_);
      meetings_[m.head.offset].come[m.head.pe] = notices_of(m).at(0);
    }
    w_.changed(&bell_);
  });
  messages_->handle(message_kind::go, [this](int, const message_view& m) {
    {
      const std::lock_guard lock(mutex_);
      meeting& here = meetings_[m.head.offset];
      here.over = true;
      here.other = static_cast<int>(m.head.number);
      here.heard = notices_of(m);
    }
    w_.changed(&bell_);
  });
}

far_meetings::~far_meetings() {
  if (messages_ == nullptr) return;
  messages_->handle(message_kind::come, {});
  messages_->handle(message_kind::go, {});
}

bool far_meetings::needed_for(const members& m) const {
  for (int i = 0; messages_ != nullptr && i < m.size; ++i)
    if (!w_.is_near(m.pe(i))) return true;
  return false;
}

int far_meetings::meet(const members& m, const notice& mine, bool compare) {
  return m.me == 0 ? gather(m, mine, compare) : tell(m, mine);
}

notice far_meetings::await(const members& m, int i, const notice& mine) {
  notice theirs{};
  const auto has_come = [&] {
    const std::lock_guard lock(mutex_);
    auto& come = meetings_[m.place].come;
    const auto found = come.find(m.pe(i));
    if (found == come.end()) return false;
    theirs = found->second;
    come.erase(found);
    return true;
  };
  bool came = false;
  w_.wait_for_change(&bell_, [&] { return came = came || has_come(); }, [&] { return did_not_come(m, i, mine.what); });
  return theirs;
}

// The first member. Members of meetings without arrays need not know what others have said, unless they disagree; but
// for the place of new teams.
int far_meetings::gather(const members& m, const notice& mine, bool compare) {
  std::vector<notice> all{mine};
  int other = 0;
  for (int i = 1; i < m.size; ++i) {
    all.push_back(await(m, i, mine));
    if (compare && other == 0 && !alike(mine, all.back())) other = i;
  }
  const bool matters = compare && (other != 0 || mine.element > 0 || mine.what == operation::team_place);
  message_head h{message_kind::go};
  h.offset = m.place;
  h.number = static_cast<std::uint64_t>(other);
  for (int i = 1; i < m.size; ++i)
    messages_->post(m.pe(i), made_message(h, all.data(), matters ? all.size() * sizeof(notice) : 0));
  const std::lock_guard lock(mutex_);
  if (matters) meetings_[m.place].said = std::move(all);
  return other;
}

int far_meetings::tell(const members& m, const notice& mine) {
  message_head h{message_kind::come, w_.me()};
  h.offset = m.place;
  messages_->post(m.pe(0), made_message(h, &mine, sizeof mine));
  int other = 0;
  const auto is_over = [&] {
    const std::lock_guard lock(mutex_);
    meeting& here = meetings_[m.place];
    if (!here.over) return false;
    here.over = false;
    other = here.other;
    if (!here.heard.empty()) here.said = std::move(here.heard);
    here.heard.clear();
    return true;
  };
  bool over = false;
  w_.wait_for_change(
      &bell_, [&] { return over = over || is_over(); }, [&] { return did_not_end(m, mine.what); }, first_is_slower);
  return other;
}

notice far_meetings::said_by(const members& m, int i) const {
  const std::lock_guard lock(mutex_);
  return meetings_.at(m.place).said.at(static_cast<std::size_t>(i));
}

}  // namespace starling::openshmem
