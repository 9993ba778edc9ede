// An engine for tests: carries messages between processes that are forked from one, by pairs of sockets made before.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "machine/distributed/engine.hpp"

namespace starling::test {

// The ends of the sockets between `n` processes: [a][b] is process a's end of that to b.
class socket_mesh {
 public:
  explicit socket_mesh(int n) : ends_(static_cast<std::size_t>(n), std::vector<int>(static_cast<std::size_t>(n), -1)) {
    for (std::size_t a = 0; a < ends_.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        int pair[2];
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
          throw std::runtime_error("no pair of sockets");
        ends_[a][b] = pair[0];
        ends_[b][a] = pair[1];
      }
  }
  ~socket_mesh() {
    for (const auto& row : ends_)
      for (const int end : row)
        if (end >= 0) (void)::close(end);
  }
  socket_mesh(const socket_mesh&) = delete;
  socket_mesh& operator=(const socket_mesh&) = delete;

  std::unique_ptr<engine> engine_of(int rank) const;

 private:
  std::vector<std::vector<int>> ends_;
};

class socket_engine final : public engine {
 public:
  socket_engine(int rank, std::vector<int> ends) : rank_(rank), ends_(std::move(ends)), out_(ends_.size()) {}

  std::string name() const override { return "sockets"; }
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ends_.size()); }

  void send(int to, message_bytes message) override {
    out_[static_cast<std::size_t>(to)].push_back(std::move(message));
    push(static_cast<std::size_t>(to));
  }

  bool receive(int& from, message_bytes& message) override {
    (void)sent();
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const std::size_t other = (next_ + i) % ends_.size();
      if (ends_[other] < 0) continue;
      message.resize(std::size_t{256} << 10);
      const ssize_t n = ::recv(ends_[other], message.data(), message.size(), 0);
      if (n <= 0) continue;
      message.resize(static_cast<std::size_t>(n));
      from = static_cast<int>(other);
      next_ = other + 1;
      return true;
    }
    return false;
  }

  bool sent() override {
    bool all = true;
    for (std::size_t to = 0; to < out_.size(); ++to) all = push(to) && all;
    return all;
  }

 private:
  bool push(std::size_t to) {
    std::deque<message_bytes>& waiting = out_[to];
    while (!waiting.empty()) {
      const message_bytes& m = waiting.front();
      if (::send(ends_[to], m.data(), m.size(), MSG_NOSIGNAL) < 0 && errno == EAGAIN) return false;
      waiting.pop_front();  // also what nobody is there to read any more
    }
    return true;
  }

  int rank_;
  std::vector<int> ends_;
  std::vector<std::deque<message_bytes>> out_;
  std::size_t next_ = 0;
};

inline std::unique_ptr<engine> socket_mesh::engine_of(int rank) const {
  return std::make_unique<socket_engine>(rank, ends_[static_cast<std::size_t>(rank)]);
}

}  // namespace starling::test
