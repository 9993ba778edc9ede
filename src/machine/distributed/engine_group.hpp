// The processes of several hosts. At a meeting each sends process 0 what it says, and gets what all have said.
//
// Processes are of one host when they can reach the same local sockets; those have a board_group, for its memory and
// because the system tells there who has died. Of other hosts the launcher ends all when one does.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "board_group.hpp"
#include "messenger.hpp"

namespace starling {

class engine_group final : public process_group {
 public:
  // `host`: where the process is, a text that is another one on every host; empty: as the system says. `terms` and
  // `memory_bytes` as of board_group.
  engine_group(const process_place& place, std::unique_ptr<engine> carrier, const std::string& host,
               const std::string& terms, std::size_t memory_bytes, double deadline);
  ~engine_group() override;

  const file& memory() const override { return local_->memory(); }
  std::string name() const override { return local_->name(); }
  void when_lost(std::function<void()> f) override;
  // Serves the others until all have given the machine up, one is lost, or the deadline is over.
  void leave() override;
  bool has_lost() const override;
  void expect_alive(const char* call) const override;

  // By rank, numbered from 0.
  const std::vector<int>& hosts() const { return hosts_; }
  // The processes of this host, in the order of their ranks.
  process_group& of_host() { return *local_; }
  // Where this process is among those that run on the same system, whatever they were told is their host.
  const process_place& on_system() const { return on_system_; }
  messenger& messages() { return messenger_; }
  // A process has not answered within the deadline: it is lost to all.
  void give_up_on(int rank) { lose(rank, loss::silent, true); }
  double deadline() const { return deadline_; }

 protected:
  void pause() override;
  void resume() override;

 private:
  std::vector<std::string> exchange(const char* call, const std::string& mine,
                                    const std::function<bool()>& hurried) override;
  std::vector<std::string> wait(const char* call, std::uint64_t meeting, const std::function<bool()>& hurried);
  // Throws for a process that has left and will not come to the meeting.
  void check_left(const char* call, std::uint64_t meeting) const;
  [[noreturn]] void give_up(const char* call, std::uint64_t meeting);
  void take(std::uint64_t meeting, int from, std::string text);
  void lose(int rank, loss how, bool tell);
  void meet_hosts(const std::string& host, const std::string& terms, std::size_t memory_bytes);

  double deadline_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t meetings_ = 0;
  std::map<std::uint64_t, std::vector<std::string>> said_;   // of process 0, by meeting; empty: not yet
  std::map<std::uint64_t, std::vector<std::string>> heard_;  // what all have said
  std::vector<std::uint64_t> left_;                          // 1 + the last meeting of who has left, by rank
  int lost_ = -1;
  loss how_ = loss::died;
  std::vector<std::uint64_t> system_numbers_;
  std::vector<int> hosts_;
  std::function<void()> when_lost_;
  messenger messenger_;
  process_place on_system_;
  std::unique_ptr<board_group> local_;
};

}  // namespace starling
