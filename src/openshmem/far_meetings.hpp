// Meetings of PEs of several hosts, by messages: each tells the first of them what it is about to do, which then tells
// all of them what all have said. A meeting is known by its place, as those in shared memory are (meeting.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "machine/distributed/messenger.hpp"
#include "meeting.hpp"

namespace starling::openshmem {

class world;

class far_meetings {
 public:
  explicit far_meetings(world& w);
  ~far_meetings();
  far_meetings(const far_meetings&) = delete;
  far_meetings& operator=(const far_meetings&) = delete;

  // Whether the members are of several hosts.
  bool needed_for(const members& m) const;
  // Returns when all members have come. The first that does not say what the first member does; 0: all do. `compare`:
  // whether they say anything.
  int meet(const members& m, const notice& mine, bool compare);
  // What a member has said at the last meeting at which anything was said.
  notice said_by(const members& m, int i) const;

 private:
  // Of one place.
  struct meeting {
    std::map<int, notice> come;  // by PE
    bool over = false;
    int other = 0;
    std::vector<notice> heard;
    std::vector<notice> said;
  };

  int gather(const members& m, const notice& mine, bool compare);
  int tell(const members& m, const notice& mine);
  notice await(const members& m, int i, const notice& mine);

  world& w_;
  messenger* messages_;  // null: all PEs are of one host
  mutable std::mutex mutex_;
  std::map<std::size_t, meeting> meetings_;
  std::uint64_t bell_ = 0;  // its address stands for what is waited for
};

}  // namespace starling::openshmem
