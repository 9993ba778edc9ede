// Which steps of triggered copies go into streams, and when: by the values that they wait for, over all queues, and not
// too far ahead. Streams may share a hardware queue, in which the work of one waits for that of the other; in this
// order whatever a step needs has been put in before it. Nothing here asks a driver.
#pragma once

#include <vector>

#include "starling/machine/triggered_copies.hpp"

namespace starling {

struct fed_queue {
  const triggered_copies* of;
  int pe;
  int number;
  std::uint64_t* reached;   // steps whose data has been copied: a word of the host that the stream writes
  std::uint64_t given = 0;  // steps put in
  copy_step next = {};      // to be put in
  bool over = false;        // there is none
};

class copy_feed {
 public:
  void add(const triggered_copies& of, int pe, int number, std::uint64_t* reached);
  void clear();
  std::vector<fed_queue>& queues() { return queues_; }
  const std::vector<fed_queue>& queues() const { return queues_; }

  // The queue whose next step is to be put in now; null: none, for now.
  fed_queue* next();
  // Its next step has been put in.
  void put(fed_queue& q);

  // From here on what is made is put in alone: kernels are over, or are being ended.
  void end() { ending_ = true; }
  // For after end(): whether steps that are made are still to be put in, or under way.
  bool more();
  // Lets the waits go that are left, by stores of the host; the words that those steps tell are first set to what has
  // been reached, so that nobody is told of anything new. Called again when kernels that were being ended are over.
  void release() noexcept;

 private:
  fed_queue* earliest();

  std::vector<fed_queue> queues_;
  bool ending_ = false;
};

}  // namespace starling
