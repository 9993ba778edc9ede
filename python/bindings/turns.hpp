// Who may work when: calls on one object take turns, and GPUs run one program at a time.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "starling/base/error.hpp"

namespace starling::python {

// Persistent programs of two threads on the same GPUs could each hold a part of them and wait for the rest.
inline std::mutex gpus_in_use;

// Of one object. A thread that has its turn and asks for another one gets an argument_error: that is a callback of a
// call that uses the object of the call.
class turns {
 public:
  explicit turns(bool on_gpus) : on_gpus_(on_gpus) {}

 private:
  friend class turn;

  std::mutex one_;
  std::atomic<std::thread::id> holder_;
  bool on_gpus_;
};

// Lasts as long as this object. Wait for it without the interpreter lock: who has the turn may need that lock.
class turn {
 public:
  // `alone`: no other program may run on GPUs meanwhile.
  turn(turns& of, const char* what, bool alone = true) : of_(of), gpus_(gpus_in_use, std::defer_lock) {
    expect<argument_error>(
        of.holder_ != std::this_thread::get_id(), what,
        " is in use by the call whose callback this is; use it after that call, or make another one");
    one_ = std::unique_lock(of.one_);
    of.holder_ = std::this_thread::get_id();
    if (alone && of.on_gpus_) gpus_.lock();
  }
  ~turn() { of_.holder_ = std::thread::id(); }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

  // Lets other programs run on the GPUs for a while.
  template <class F>
  auto pausing(F&& f) {
    struct again {
      std::unique_lock<std::mutex>& gpus;
      bool had = gpus.owns_lock();
      explicit again(std::unique_lock<std::mutex>& g) : gpus(g) {
        if (had) gpus.unlock();
      }
      ~again() {
        if (had) gpus.lock();
      }
    };
    const again lock(gpus_);
    return f();
  }

 private:
  turns& of_;
  std::unique_lock<std::mutex> one_;
  std::unique_lock<std::mutex> gpus_;
};

}  // namespace starling::python
