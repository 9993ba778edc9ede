// Streams in check mode: their operations are kept until the host waits for one of them, then all are run together
// under the checker's schedules.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "../check/checker.hpp"

namespace starling::host {

class host_stream;
class event_record;

class deferred_work {
 public:
  explicit deferred_work(check::checker& c) : checker_(c) {}

  void add(host_stream& s);
  void remove(host_stream& s);
  // Held while a stream is given an operation, so that drain() has of all streams what came before any operation that
  // it has; or several, of which it is to have all or none. `completes`: the operation completes this record; null:
  // none.
  using hold = std::unique_lock<std::recursive_mutex>;
  hold giving(std::shared_ptr<event_record> completes = nullptr);
  // A launch of so many blocks may be among the operations.
  void expect_launch(int blocks, bool resident);

  // Frees local memory; while operations wait that may use it, nobody else gets its addresses.
  void free(local_heap& heap, std::byte* start) noexcept;

  // Runs everything that streams have been given so far. Throws what check mode finds and what kernels threw; the
  // operations are gone and their records complete in every case.
  void drain();

 private:
  check::checker& checker_;
  std::mutex turn_;  // what was taken first is run first
  std::recursive_mutex mutex_;
  std::vector<host_stream*> streams_;
  std::vector<std::shared_ptr<event_record>> records_;
  int most_blocks_ = 0;
  bool resident_ = false;  // there may be such launches
  std::vector<std::pair<local_heap*, std::byte*>> retired_;
};

}  // namespace starling::host
