// An engine for tests: carries messages between processes that are forked from one, by pairs of sockets made before.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
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

// Data goes as late as it may, behind messages that were sent after it, and is read from where it is only then.
class socket_engine final : public engine {
 public:
  socket_engine(int rank, std::vector<int> ends) : rank_(rank), ends_(std::move(ends)), peers_(ends_.size()) {}

  std::string name() const override { return "sockets"; }
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ends_.size()); }

  void send(int to, message_bytes message) override {
    message.push_back(is_message);
    peers_[static_cast<std::size_t>(to)].out.push_back(std::move(message));
    (void)push(static_cast<std::size_t>(to));
  }

  bool receive(int& from, message_bytes& message) override {
    (void)sent();
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const std::size_t other = (next_ + i) % ends_.size();
      if (!read(other, message)) continue;
      from = static_cast<int>(other);
      next_ = other + 1;
      return true;
    }
    return false;
  }

  bool sent() override {
    bool all = true;
    for (std::size_t to = 0; to < peers_.size(); ++to) all = push(to) && push_data(to) && all;
    return all;
  }

  void send_data(int to, const data_range& data) override {
    peers_[static_cast<std::size_t>(to)].data_out.push_back({data, 0});
  }
  void receive_data(int from, const data_range& place) override {
    peer& p = peers_[static_cast<std::size_t>(from)];
    if (p.wanted.start != nullptr) throw std::logic_error("one at a time");
    p.wanted = place;
  }
  bool data_received(int from) override {
    peer& p = peers_[static_cast<std::size_t>(from)];
    if (p.data_in.size() < p.wanted.bytes) return false;
    const auto end = p.data_in.begin() + static_cast<std::ptrdiff_t>(p.wanted.bytes);
    std::copy(p.data_in.begin(), end, p.wanted.start);
    p.data_in.erase(p.data_in.begin(), end);
    p.wanted = {};
    return true;
  }

 private:
  // Packets have their kind behind them.
  static constexpr std::byte is_message{1};
  static constexpr std::byte is_data{2};
  static constexpr std::size_t most_data = 50'000;

  struct outgoing {
    data_range data;
    std::size_t sent = 0;
  };
  struct peer {
    std::deque<message_bytes> out;
    std::deque<outgoing> data_out;
    message_bytes data_in;
    data_range wanted;
  };

  // False: there is no room now, in the socket or in the kernel's memory.
  bool write(std::size_t to, const message_bytes& packet) {
    return ::send(ends_[to], packet.data(), packet.size(), MSG_NOSIGNAL) >= 0 || (errno != EAGAIN && errno != ENOBUFS);
  }

  bool push(std::size_t to) {
    std::deque<message_bytes>& waiting = peers_[to].out;
    while (!waiting.empty()) {
      if (!write(to, waiting.front())) return false;
      waiting.pop_front();  // also what nobody is there to read any more
    }
    return true;
  }

  // A piece of it at a time.
  bool push_data(std::size_t to) {
    std::deque<outgoing>& waiting = peers_[to].data_out;
    if (waiting.empty()) return true;
    outgoing& o = waiting.front();
    const std::size_t n = std::min(most_data, o.data.bytes - o.sent);
    message_bytes packet(o.data.start + o.sent, o.data.start + o.sent + n);
    packet.push_back(is_data);
    if (!write(to, packet)) return false;
    o.sent += n;
    if (o.sent == o.data.bytes) waiting.pop_front();
    return waiting.empty();
  }

  // The next message, keeping data that comes before it.
  bool read(std::size_t other, message_bytes& message) {
    if (ends_[other] < 0) return false;
    for (;;) {
      message.resize(std::size_t{256} << 10);
      const ssize_t n = ::recv(ends_[other], message.data(), message.size(), 0);
      if (n <= 0) return false;
      const std::byte kind = message[static_cast<std::size_t>(n) - 1];
      message.resize(static_cast<std::size_t>(n) - 1);
      if (kind == is_message) return true;
      message_bytes& all = peers_[other].data_in;
      all.insert(all.end(), message.begin(), message.end());
    }
  }

  int rank_;
  std::vector<int> ends_;
  std::vector<peer> peers_;
  std::size_t next_ = 0;
};

inline std::unique_ptr<engine> socket_mesh::engine_of(int rank) const {
  return std::make_unique<socket_engine>(rank, ends_[static_cast<std::size_t>(rank)]);
}

}  // namespace starling::test
