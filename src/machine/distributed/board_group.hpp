// The processes of one host, which meet in memory that they share.
#pragma once

#include <memory>
#include <mutex>

#include "board.hpp"
#include "death_watch.hpp"
#include "process_group.hpp"
#include "shared_memory.hpp"

namespace starling {

class board_group final : public process_group {
 public:
  // Returns when all processes of the job have come; see meet_first. `terms`: what the machine is to be, in words;
  // `memory_bytes`: what they share.
  board_group(const process_place& place, const std::string& terms, std::size_t memory_bytes, double deadline);
  // As one of a build of that name; for tests.
  board_group(const process_place& place, const std::string& build, const std::string& terms, std::size_t memory_bytes,
              double deadline);
  ~board_group() override;

  const file& memory() const override { return memory_; }
  std::string name() const override;
  void when_lost(std::function<void()> f) override;
  bool has_lost() const override { return board_->lost.load() != 0; }
  void expect_alive(const char* call) const override;
  // Who is lost; -1: nobody.
  int lost() const { return static_cast<int>(board_->lost.load() & 0xffff) - 1; }

  void pause() override { watch_->pause(); }
  void resume() override { watch_->resume(); }

 private:
  board_group(const process_place& place, struct rendezvous_result found, double deadline);

  std::vector<std::string> exchange(const char* call, const std::string& mine,
                                    const std::function<bool()>& hurried) override;
  void arrive(const char* call, const std::function<bool()>& hurried);
  void check_left(const char* call) const;
  [[noreturn]] void give_up(const char* call);
  void lose(int rank, loss how);
  board::seat& seat(int rank) const { return board_->seats[rank]; }

  double deadline_;
  file memory_;
  mapping words_;
  board* board_;
  std::uint64_t meetings_ = 0;
  std::mutex loss_mutex_;
  std::function<void()> when_lost_;
  std::unique_ptr<death_watch> watch_;
};

}  // namespace starling
