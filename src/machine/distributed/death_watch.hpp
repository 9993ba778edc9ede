// Waits for other processes to end, however they do: the system closes their ends of lines that are open for nothing
// else.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "local_socket.hpp"

namespace starling {

class death_watch {
 public:
  // `lines` by rank, those that are not open are of nobody; from a thread of its own `ended` is told a rank, once.
  death_watch(std::vector<file> lines, std::function<void(int)> ended);
  ~death_watch();
  death_watch(const death_watch&) = delete;
  death_watch& operator=(const death_watch&) = delete;

  // Ends the thread, and begins another one, which notices who has ended meanwhile.
  void pause();
  void resume();

 private:
  void watch();

  std::vector<file> lines_;
  std::function<void(int)> ended_;
  file stop_;
  std::thread thread_;
};

}  // namespace starling
