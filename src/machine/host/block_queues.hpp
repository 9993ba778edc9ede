// The queue pairs of one block: one for each of its contexts and each PE behind the card, made when the block first
// uses it. Calls end the program (network_error) when a card answers with an error.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "cards.hpp"
#include "running.hpp"
#include "starling/device/network/carrier.hpp"

namespace starling::host {

class block_queues {
 public:
  block_queues(running& program, int pe, int block);
  ~block_queues();

  // Whether a card is between the block and a PE.
  bool reach(int peer) const {
    const cards* all = program_.group().network.get();
    return all != nullptr && all->hosts().apart(pe_, peer);
  }

  void put(const transfer& t);
  void put_signal(const transfer& t, const signal_update& s);
  void get(const transfer& t);
  void update(const signal_update& s);
  void atomic(const atomic_call& c);
  void fence(int context);
  void quiet(int context);
  void quiet_all();
  // Whether a card has answered with an error; looks at all answers.
  bool failed();
  // Ends the program if one has.
  void check() const;
  // Entries of the queues to a PE fail from now on.
  void lose(int context, int peer);

 private:
  // The call that an entry is of.
  struct origin {
    operation op = operation::none;
    where at{"", 0};
  };
  struct queue;
  class bus;
  queue& to(int context, int peer);
  // Runs what posts entries to a queue.
  template <class F>
  void call(int context, int peer, operation op, where at, const F& f);
  // The same for a put, f(carrier, put): one of little data does not wait, because its source is copied.
  template <class F>
  void call_put(const transfer& t, const F& f);
  const std::byte* copied(queue& q, const transfer& t);
  [[noreturn]] void fail(const queue& q) const;

  running& program_;
  int pe_;
  int block_;
  std::map<std::pair<int, int>, std::unique_ptr<queue>> queues_;  // by context and PE
};

}  // namespace starling::host
