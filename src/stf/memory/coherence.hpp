// Coherence: instances come into being where tasks need them, get their value from the nearest valid one, and give way
// when their place is full. Everything is put in order by sync points; nothing here waits, but for memory that only
// finished work can free.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "data_state.hpp"
#include "place_memory.hpp"
#include "starling/base/error.hpp"
#include "starling/stf/statistics.hpp"
#include "stf/order/stream_pool.hpp"

namespace starling::stf {

class data_registry;
class held_memory;
struct operation_list;
class scheduler;

// There is too little memory, but other threads hold data that could be moved away. Who holds data too lets go of it
// before it tries again: the others may want that.
class memory_busy : public memory_error {
 public:
  using memory_error::memory_error;
};

class coherence {
 public:
  // `release_pending` gives back what data holds that is no longer among `all`; says whether there was any.
  // `source` says where the memory of a device, of host_place or of managed_place comes from.
  coherence(machine& m, stream_pool& streams, data_registry& all, std::size_t device_cap,
            const std::function<slab_source(int)>& source, std::function<bool()> release_pending);

  // An instance at this place (no affine one), which holds the value if `valid`. What its next user has to wait for to
  // read it, or with `alone` to change it, is added to `before`. The caller holds the data. Throws memory_busy. Without
  // `valid` partial results stay as they are: the caller drops them when nothing can fail any more.
  data_instance& acquire(data_body& d, const data_place& place, bool valid, bool alone, sync_point_list& before);
  // The same for the rows of other data around an instance that was acquired. The caller holds these data too.
  void refresh(const ghost_rows& ghosts, data_instance& i, sync_point_list& before);
  // The user that acquired it is over at `end`. One that wrote leaves the only valid instance.
  static void release(data_body& d, data_instance& i, bool wrote, const sync_point_list& end);

  // Messages of check mode call its instances as it is called now.
  void name_instances(data_body& d);

  // Copies are measured for it from now on; it outlives this.
  void measure_with(scheduler& s) { scheduler_ = &s; }

  // Until the next call, memory that nobody uses any more is kept here instead of being given to others, and of data
  // only what has a number up to `newest`, and has not entered the scope, is moved away, beside the recording. Null: no
  // longer.
  void keep_for(held_memory* h, std::uint64_t newest = 0) {
    newest_ = newest;
    held_ = h;
  }
  void give_back(held_memory& h, const sync_point_list& uses);
  // Until the next call, copies are noted there too, which a persistent program is to do. Null: no longer.
  void note_in(operation_list* operations) { notes_ = operations; }
  // Brings the value to an instance.
  void refresh(data_body& d, data_instance& i) { copy(d, *nearest(d, i.place), i); }

  // An instance of its own for a task that reduces into the data (no affine place); `before` as for acquire. The caller
  // fills it with the identity. Addends by another operator are combined first.
  memory_block new_partial(data_body& d, const data_place& place, const std::shared_ptr<const task_reduction>& reduces,
                           bool starts_over, sync_point_list& before);
  // The task is over at `end`; one that failed leaves no partial result, and the data without a value.
  void add(data_body& d, partial_result a, const std::shared_ptr<const task_reduction>& reduces, bool starts_over,
           bool good);
  // Makes partial results, if there are some, part of the value; or forgets them.
  void combine_partials(data_body& d) {
    if (!d.sum().partials.empty()) combine(d);
  }
  void drop_partials(data_body& d);

  // Calls attempt(), which locks data and acquires instances, again for as long as it throws memory_busy and the
  // patience lasts; between attempts let_go(), which unlocks. One thread at a time tries again, so that each gets its
  // turn.
  void retry_when_full(const std::function<void()>& attempt, const std::function<void()>& let_go);
  std::chrono::duration<double> patience() const { return patience_; }

  // Memory on a slot's device for what the caller alone runs in the slot from here on: zero, or as an earlier user of
  // it left it. Kept for others when that user says that they may have it as it is.
  memory_block take_scratch(stream_slot& slot, std::size_t bytes);
  void keep_scratch(stream_slot& slot, const memory_block& b, bool as_it_is);

  // Memory of a place (no affine one) for a while; `before` as for acquire.
  memory_block borrow(std::size_t bytes, const data_place& place, sync_point_list& before);
  void give_back(const memory_block& b, const data_place& place, const sync_point_list& uses);

  // Puts the value into the user's memory, if it has one there and it is not.
  void write_back(data_body& d);
  // The instances go; what they hold is lost. Of secret data that is work in streams, as a write-back is.
  void drop(data_body& d);
  // The same of the instances that are the user's memory, or of the others.
  void drop_users_memory(data_body& d, bool users);
  // What only finished work can give back, the pages of composite instances and what was pinned: once it is over.
  void reclaim(bool all);
  // All work is over: what a user's allocators gave goes back to them, as far as nothing holds it.
  void return_to_allocators();
  // Keeps the memory of all instances.
  std::shared_ptr<void> memory() const { return store_; }

  stf::statistics statistics() const;

 private:
  data_instance* find(data_body& d, const data_place& place) const;
  data_instance& create(data_body& d, const data_place& place, sync_point_list& before);
  data_instance& create_or_combine(data_body& d, const data_place& place, sync_point_list& before);
  memory_block allocate(const std::string& what, std::size_t bytes, const data_place& place, sync_point_list& before);
  memory_block allocate_or_retry(const std::string& what, std::size_t bytes, const data_place& place,
                                 sync_point_list& before);
  enum class eviction { done, busy, nothing };
  eviction evict_one(const data_place& place);
  bool release_scratch(const data_place& place);
  bool release_partials(const data_place& place);
  // Makes the partial results part of the value: on a device if that is possible, or on the host.
  void combine(data_body& d, bool on_host = false);
  void combine_at(data_body& d, const data_place& place, std::vector<partial_result>& partials, bool starts_over);
  local_memory allocate_pages(const std::vector<placed_bytes>& pieces);
  void evict(data_body& d, data_instance& leaving);
  // The bytes from one instance to another.
  static void move(stream& s, const data_body& d, const data_instance& from, const data_instance& to);
  void copy(const data_body& d, data_instance& from, data_instance& to);
  void copy_beside_recording(const data_body& d, const data_instance& from, data_instance& to);
  void note_copy(const data_body& d, const data_instance& from, std::size_t offset, const data_instance& to,
                 std::ptrdiff_t to_offset, std::size_t bytes);
  data_instance* nearest(const data_body& d, const data_place& to) const;
  // The nearest of those for which usable(instance) holds.
  template <class F>
  data_instance* nearest(const data_body& d, const data_place& to, const F& usable) const;
  data_instance& source_of_ghosts(data_body& d, const data_place& to, sync_point_list& before);
  place_memory& memory_of(const data_place& place);
  void name_instance(const data_body& d, data_instance& i);
  void free(data_instance& i);
  // Memory after its last `uses`, which end with this.
  void wipe(std::byte* start, std::size_t bytes, const data_place& place, sync_point_list& uses);

  machine& machine_;
  stream_pool& streams_;
  data_registry& all_;
  const std::function<bool()> release_pending_;
  const bool checked_;  // in check mode
  scheduler* scheduler_ = nullptr;
  std::atomic<held_memory*> held_{nullptr};
  std::atomic<std::uint64_t> newest_{0};  // while there is one
  operation_list* notes_ = nullptr;       // while one thread alone submits
  struct retired_memory {
    local_memory pages;
    pinned_memory pin;
    sync_point_list uses;
  };
  struct store {
    std::vector<std::unique_ptr<place_memory>> memories;  // by device, then the host's and managed memory
    std::vector<retired_memory> retired;
  };
  const std::shared_ptr<store> store_ = std::make_shared<store>();
  mutable std::mutex mutex_;
  struct idle_scratch {
    int pe;
    memory_block block;
    sync_point_list uses;
  };
  std::mutex scratch_mutex_;
  std::vector<idle_scratch> scratch_;
  const std::chrono::duration<double> patience_;
  std::mutex turn_;
  std::atomic<std::uint64_t> uses_{0};
  std::atomic<std::uint64_t> copies_{0};
  std::atomic<std::uint64_t> copied_bytes_{0};
  std::atomic<std::uint64_t> evictions_{0};
};

}  // namespace starling::stf
