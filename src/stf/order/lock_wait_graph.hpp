// Which threads wait for data that bodies of tasks on other threads hold, so that a circle of them is an error instead
// of the end of all progress. Only who has to wait comes here.
#pragma once

#include <mutex>
#include <thread>
#include <unordered_map>

namespace starling::stf {

class data_state;

class lock_wait_graph {
 public:
  // This thread is going to wait for `d`. Throws argument_error when that would close a circle. The last thread of a
  // circle sees all of it: each notes that it holds data before it comes here for other data.
  void enter(const data_state& d);
  // It has it.
  void leave();

 private:
  std::mutex mutex_;
  std::unordered_map<std::thread::id, const data_state*> waiting_;
};

}  // namespace starling::stf
