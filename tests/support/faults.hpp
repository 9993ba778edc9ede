// What the tests of injected faults share: programs whose results are known, and the look around afterwards.
#pragma once

#include <dirent.h>

#include <chrono>
#include <thread>

#include "support/stall.hpp"
#include "support/usable.hpp"

namespace starling::test {

// Threads of this process.
inline int threads_of_process() {
  int n = 0;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return -1;
  while (const dirent* entry = readdir(tasks)) n += entry->d_name[0] != '.';
  closedir(tasks);
  return n;
}

// The system shows a thread for a moment after it was joined: the number that does not change for a while.
inline int settled_threads() {
  int least = threads_of_process();
  for (int same = 0; same < 4; ++same) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const int now = threads_of_process();
    if (now != least) same = 0;
    least = now;
  }
  return least;
}

// Whether no more threads are left than `before`, after such a moment.
inline bool no_more_threads_than(int before) {
  for (int looks = 0; looks < 2000; ++looks) {
    if (threads_of_process() <= before) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

inline fault_plan plan_of(const fault& f) { return {{f}}; }

// Made before the faults; its check says that nothing is left of them.
class surroundings {
 public:
  explicit surroundings(machine& m) : machine_(m) {
    check_usable(m);  // a sanitizer starts a thread of its own with the first
    threads_ = settled_threads();
    in_use_ = m.memory().in_use;
  }

  // The plan is still in force, and has fired as often as it may.
  void check_restored() {
    CHECK(machine_.memory().in_use == in_use_);
    CHECK(no_more_threads_than(threads_));
    check_usable(machine_);
    CHECK(machine_.memory().in_use == in_use_);
    CHECK(no_more_threads_than(threads_));
  }
  void remove_and_check_restored() {
    machine_.inject({});
    CHECK(machine_.faults_fired().empty());
    check_restored();
  }

 private:
  machine& machine_;
  std::size_t in_use_ = 0;
  int threads_ = 0;
};

// Every PE gives its number to the right, `rounds` times, adding 1 on the way: put_signal and a signal back as credit.
class ring {
 public:
  ring(machine& m, int rounds)
      : machine_(m),
        rounds_(rounds),
        box_(zeroed<int>(m, 1)),
        came_(zeroed<signal>(m, 1)),
        taken_(zeroed<signal>(m, 1)),
        held_(zeroed<int>(m, 1)) {}

  void run(double deadline) {
    const sym<int> box = box_.data(), held = held_.data();
    const sym<signal> came = came_.data(), taken = taken_.data();
    const int rounds = rounds_;
    role_plan roles;
    roles.add("ring", 1);
    machine_.run(roles,
                 [=](block& b) {
                   const int right = (b.pe() + 1) % b.n_pes();
                   const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
                   int value = b.pe();
                   for (int t = 1; t <= rounds; ++t) {
                     b.wait(taken, t - 1, right);
                     b.put_signal(box, &value, 1, came, t, right, signal_op::set, {"ring.cpp", 10});
                     b.wait(came, compare::ge, static_cast<std::uint64_t>(t), left, {"ring.cpp", 20});
                     value = *box.on(b.pe()) + 1;
                     b.signal_set(taken, t, left, {"ring.cpp", 30});
                   }
                   *held.on(b.pe()) = value;
                 },
                 {.deadline = deadline});
  }

  void check_result() {
    const int n = machine_.size();
    for (int pe = 0; pe < n; ++pe) CHECK(read(machine_, held_, pe)[0] == ((pe - rounds_) % n + n) % n + rounds_);
  }

 private:
  machine& machine_;
  int rounds_;
  symmetric_array<int> box_;
  symmetric_array<signal> came_, taken_;
  symmetric_array<int> held_;
};

// The same with packets, which carry their round as number; two boxes, so that the neighbour's packet is the credit.
class halo {
 public:
  halo(machine& m, int rounds) : machine_(m), rounds_(rounds), box_(zeroed<packet>(m, 4)), sum_(zeroed<double>(m, 1)) {}

  void run(double deadline) {
    const sym<packet> box = box_.data();
    const sym<double> sums = sum_.data();
    const int rounds = rounds_;
    machine_.run(1,
                 [=](block& b) {
                   const int right = (b.pe() + 1) % b.n_pes();
                   const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
                   double sum = 0;
                   for (int t = 1; t <= rounds; ++t) {
                     const auto number = static_cast<std::uint64_t>(t);
                     const auto mine = [&](index_t) { return packet_content<double>{{100.0 * b.pe() + t}}; };
                     const sym<packet> slot = box + 2 * (t % 2);
                     b.put_packets<double>(slot, mine, 1, number, right, {"halo.cpp", 10});
                     b.put_packets<double>(slot + 1, mine, 1, number, left, {"halo.cpp", 11});
                     sum += b.take_packet<double>(slot, number, left, {"halo.cpp", 20}).element[0];
                     sum += b.take_packet<double>(slot + 1, number, right, {"halo.cpp", 21}).element[0];
                   }
                   *sums.on(b.pe()) = sum;
                 },
                 {.deadline = deadline});
  }

  void check_result() {
    const int n = machine_.size();
    for (int pe = 0; pe < n; ++pe)
      CHECK(read(machine_, sum_, pe)[0] ==
            rounds_ * 100.0 * ((pe + 1) % n + (pe + n - 1) % n) + rounds_ * (rounds_ + 1.0));
  }

 private:
  machine& machine_;
  int rounds_;
  symmetric_array<packet> box_;
  symmetric_array<double> sum_;
};

// Sums over the machine by two blocks of each PE.
class sums {
 public:
  sums(machine& m, int rounds) : machine_(m), rounds_(rounds), sum_(zeroed<std::int64_t>(m, 2)) {}

  void run(double deadline) {
    const sym<std::int64_t> out = sum_.data();
    const int rounds = rounds_;
    role_plan roles;
    roles.add("first", 1);
    roles.add("second", 1);
    machine_.run(roles,
                 [=](block& b) {
                   std::int64_t sum = 0;
                   for (int t = 1; t <= rounds; ++t)
                     sum += b.all_reduce<std::int64_t>(t * (2 * b.pe() + b.index()), plus{}, {"sums.cpp", 10});
                   out.on(b.pe())[b.index()] = sum;
                 },
                 {.deadline = deadline});
  }

  void check_result() {
    const std::int64_t blocks = 2 * machine_.size();
    const std::int64_t wanted = blocks * (blocks - 1) / 2 * rounds_ * (rounds_ + 1) / 2;
    for (int pe = 0; pe < machine_.size(); ++pe)
      CHECK(read(machine_, sum_, pe) == std::vector<std::int64_t>{wanted, wanted});
  }

 private:
  machine& machine_;
  int rounds_;
  symmetric_array<std::int64_t> sum_;
};

}  // namespace starling::test
