// The threads of a GPU's block, played by threads of the host: for code that deals work to them by number and meets in
// barriers.
#pragma once

#include <barrier>
#include <thread>
#include <vector>

namespace starling::test {

class thread_of_block {
 public:
  thread_of_block(std::barrier<>& meeting, int member, int members)
      : meeting_(meeting), member_(member), members_(members) {}
  int member() const { return member_; }
  int members() const { return members_; }
  void sync() const { meeting_.arrive_and_wait(); }

 private:
  std::barrier<>& meeting_;
  int member_;
  int members_;
};

// Runs f once for each of `members` threads, all at the same time.
template <class F>
void run_as_block(int members, const F& f) {
  std::barrier<> meeting(members);
  std::vector<std::thread> threads;
  for (int i = 0; i < members; ++i) threads.emplace_back([&, i] { f(thread_of_block(meeting, i, members)); });
  for (std::thread& t : threads) t.join();
}

}  // namespace starling::test
