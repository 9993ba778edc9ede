// Several processes of one job, forked from a test, each of which says something at its end.
#pragma once

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling::test {

// What a process has said, or the error that it ended with, its class in front.
inline std::string said(const std::function<std::string()>& work) {
  try {
    return work();
  } catch (const stall_error& e) {
    return std::string("stall_error: ") + e.what();
  } catch (const process_error& e) {
    return std::string("process_error: ") + e.what();
  } catch (const argument_error& e) {
    return std::string("argument_error: ") + e.what();
  } catch (const range_error& e) {
    return std::string("range_error: ") + e.what();
  } catch (const memory_error& e) {
    return std::string("memory_error: ") + e.what();
  } catch (const unsupported_error& e) {
    return std::string("unsupported_error: ") + e.what();
  } catch (const std::exception& e) {
    return std::string("other: ") + e.what();
  }
}

// From now on a handler of a signal interrupts whatever this process waits in, again and again.
inline void interrupt_often() {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  (void)::sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 500}, {0, 500}};
  (void)::setitimer(ITIMER_REAL, &often, nullptr);
}

class job {
 public:
  // work(rank) in `n` processes of `of`; those that are not started never come.
  job(int n, const std::function<std::string(int)>& work, int of = 0) {
    static int jobs = 0;
    const std::string place = "test-" + std::to_string(::getpid()) + "-" + std::to_string(++jobs);
    for (int rank = 0; rank < n; ++rank) start(rank, of > 0 ? of : n, place, work);
  }
  ~job() {
    for (const child& c : children_) {
      (void)::kill(c.pid, SIGKILL);
      if (!c.gone) (void)::waitpid(c.pid, nullptr, 0);
      (void)::close(c.from);
    }
  }
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  void send(int rank, int signal) const { (void)::kill(children_[static_cast<std::size_t>(rank)].pid, signal); }

  // What a process says, "killed" if a signal has ended it, "hangs" after a time in which it should have ended.
  std::string end_of(int rank, double seconds = 60) {
    child& c = children_[static_cast<std::size_t>(rank)];
    int status = 0;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (::waitpid(c.pid, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > limit) return "hangs";
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    c.gone = true;
    if (WIFSIGNALED(status)) return "killed";
    std::string text(1 << 14, '\0');
    const ssize_t n = ::read(c.from, text.data(), text.size());
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }
  std::vector<std::string> ends() {
    std::vector<std::string> all;
    for (int rank = 0; rank < static_cast<int>(children_.size()); ++rank) all.push_back(end_of(rank));
    return all;
  }

 private:
  struct child {
    pid_t pid;
    int from;
    bool gone = false;
  };

  void start(int rank, int of, const std::string& place, const std::function<std::string(int)>& work) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    const pid_t pid = ::fork();
    if (pid == 0) {
      (void)::setenv("STARLING_RANK", std::to_string(rank).c_str(), 1);
      (void)::setenv("STARLING_RANKS", std::to_string(of).c_str(), 1);
      (void)::setenv("STARLING_RENDEZVOUS", place.c_str(), 1);
      (void)::setenv("STARLING_DISTRIBUTED", "host", 0);  // CUDA does not go on in a fork
      const std::string text = said([&] { return work(rank); });
      (void)!::write(ends[1], text.data(), text.size());
      ::_exit(0);
    }
    (void)::close(ends[1]);
    children_.push_back({pid, ends[0]});
  }

  std::vector<child> children_;
};

}  // namespace starling::test
