#include "local_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "starling/base/error.hpp"

namespace starling {

file::~file() {
  if (is_open()) (void)::close(number_);
}

namespace local_socket {
namespace {

constexpr std::size_t most_files = 4;

file new_socket() {
  file s(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  expect<process_error>(s.is_open(), "machine::distributed: the system gives no socket (", std::strerror(errno), ")");
  return s;
}

// The zero in front puts the name into no folder.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::size_t n = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), n);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + n);
}

// What call() gives when no handler of a signal has interrupted it.
template <class F>
auto uninterrupted(const F& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

bool is_ours(const file& s) {
  ucred other{};
  socklen_t length = sizeof other;
  return ::getsockopt(s.number(), SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 && other.uid == ::geteuid();
}

}  // namespace

file listen(const std::string& name) {
  file s = new_socket();
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  constexpr int waiting = 256;
  if (::bind(s.number(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return {};
  return ::listen(s.number(), waiting) == 0 ? std::move(s) : file();
}

file connect(const std::string& name) {
  file s = new_socket();
  sockaddr_un address;
  const socklen_t length = address_of(name, address);
  const auto* there = reinterpret_cast<const sockaddr*>(&address);
  if (uninterrupted([&] { return ::connect(s.number(), there, length); }) != 0) return {};
  expect<process_error>(is_ours(s), "machine::distributed: a process of another user has taken the meeting place \"",
                        name, "\"; start the job again");
  return s;
}

file accept(const file& listener) {
  file s(uninterrupted([&] { return ::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC); }));
  return s.is_open() && is_ours(s) ? std::move(s) : file();
}

std::vector<bool> wait(const std::vector<int>& numbers, time_point until) {
  std::vector<pollfd> polled;
  for (const int n : numbers) polled.push_back({n, POLLIN | POLLRDHUP, 0});
  constexpr std::int64_t most = 1'000'000;  // at a time
  std::int64_t rest = 0;
  const auto look = [&] {
    rest = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    return ::poll(polled.data(), polled.size(), static_cast<int>(std::clamp<std::int64_t>(rest, 0, most)));
  };
  while (uninterrupted(look) == 0 && rest > most) continue;
  std::vector<bool> ready;
  for (const pollfd& p : polled) ready.push_back(p.revents != 0);
  return ready;
}

bool send(const file& to, const void* bytes, std::size_t n, const std::vector<int>& files) {
  iovec part{const_cast<void*>(bytes), n};
  msghdr m{};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_files * sizeof(int))> room{};
  if (!files.empty()) {
    m.msg_control = room.data();
    m.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(c), files.data(), files.size() * sizeof(int));
  }
  return uninterrupted([&] { return ::sendmsg(to.number(), &m, MSG_NOSIGNAL); }) == static_cast<ssize_t>(n);
}

bool receive(const file& from, void* bytes, std::size_t n, std::vector<file>* files) {
  iovec part{bytes, n};
  msghdr m{};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_files * sizeof(int))> room{};
  m.msg_control = room.data();
  m.msg_controllen = room.size();
  const ssize_t got = uninterrupted([&] { return ::recvmsg(from.number(), &m, MSG_CMSG_CLOEXEC); });
  if (got <= 0) return false;
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
    if (c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(c) + i * sizeof(int), sizeof number);
      file taken(number);
      if (files != nullptr) files->push_back(std::move(taken));
    }
  }
  return static_cast<std::size_t>(got) == n;
}

}  // namespace local_socket
}  // namespace starling
