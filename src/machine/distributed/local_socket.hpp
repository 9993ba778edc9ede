// Messages between processes of one user on one host: sockets with names that lie in no folder, so that nothing is left
// when their processes are gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace starling {

// Closes a file of the system.
class file {
 public:
  file() = default;
  explicit file(int number) : number_(number) {}
  file(file&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  file& operator=(file&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~file();

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

namespace local_socket {

using time_point = std::chrono::steady_clock::time_point;

// Not open where another process has the name.
file listen(const std::string& name);
// Not open where nobody listens. Throws process_error where somebody else's process does.
file connect(const std::string& name);
// The next who has connected; not open: there is none, or it is somebody else's process.
file accept(const file& listener);

// Whether one of them has something to be read, by number; none: the time is over. Handlers of signals end no wait.
std::vector<bool> wait(const std::vector<int>& numbers, time_point until);

// Whole messages, with open files. False: the other end is gone.
bool send(const file& to, const void* bytes, std::size_t n, const std::vector<int>& files = {});
bool receive(const file& from, void* bytes, std::size_t n, std::vector<file>* files = nullptr);

}  // namespace local_socket
}  // namespace starling
