// data_instance: one copy of a piece of logical data, and when it may be used. instance_list: the copies that there
// are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "place_memory.hpp"
#include "rare_members.hpp"
#include "starling/machine/access_scope.hpp"
#include "starling/machine/pinned_memory.hpp"
#include "starling/stf/place.hpp"
#include "stf/order/sync_point.hpp"

namespace starling::stf {

struct data_instance {
  data_place place;
  std::byte* start = nullptr;
  memory_block block;  // of the place's memory
  bool users_memory = false;
  bool secret = false;  // its memory is wiped before it is anything else's
  // Otherwise the user's memory in parts, or not to be had in a stream's order: tasks get other instances.
  bool packed = true;
  bool valid = false;
  std::uint64_t last_use = 0;
  sync_point_list ready;  // when it holds the value
  sync_point_list used;   // when all who read it have
  std::unique_ptr<data_instance> next;

  // Of data with ghosts: what is there, by the number of the source; and when all who read it have.
  struct ghost {
    std::uint64_t version = 0;  // of the source's value, plus 1
    sync_point_list ready;
  };
  struct ghost_area {
    std::vector<ghost> all;
    sync_point_list used;
    sync_point_list fresh;  // when the memory was no longer used for anything else
  };
  struct rare_state {
    local_memory pages;                       // of a composite place, instead of a block
    pinned_memory pin;                        // of the user's memory on the host
    named_memory label;                       // of memory other than a block's
    std::shared_ptr<std::atomic<int>> holds;  // how many recorded scopes need it where it is; null: none so far
    std::unique_ptr<ghost_area> around;
  };
  rare_members<rare_state> rare;

  bool held() const { return rare->holds && *rare->holds > 0; }
  std::shared_ptr<std::atomic<int>> count_of_holds() {
    auto& holds = rare.change().holds;
    if (!holds) holds = std::make_shared<std::atomic<int>>(0);
    return holds;
  }

  ghost_area& ghosts() {
    auto& around = rare.change().around;
    if (!around) around = std::make_unique<ghost_area>();
    return *around;
  }
  // What is there has to come anew.
  void forget_ghosts() {
    if (!rare->around) return;
    for (ghost& g : rare->around->all) g.version = 0;
  }
  // The same, and whoever used them is over at `end`.
  void forget_ghosts(const sync_point_list& end) {
    if (!rare->around) return;
    forget_ghosts();
    for (ghost& g : rare->around->all) g.ready.clear();
    rare->around->used = end;
  }
  void add_ghost_uses(sync_point_list& to) const {
    if (!rare->around) return;
    to.add(rare->around->used);
    for (const ghost& g : rare->around->all) to.add(g.ready);
  }
};

// In the order in which they came, each where it is for as long as it lives. Most data have one or two.
class instance_list {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = data_instance*;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = data_instance*;

    explicit iterator(data_instance* at) : at_(at) {}
    data_instance* operator*() const { return at_; }
    iterator& operator++() {
      at_ = at_->next.get();
      return *this;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    data_instance* at_;
  };

  instance_list() = default;
  instance_list(instance_list&&) = default;
  instance_list& operator=(instance_list&&) = default;
  ~instance_list() = default;

  iterator begin() const { return iterator(first_.get()); }
  iterator end() const { return iterator(nullptr); }
  bool empty() const { return first_ == nullptr; }
  data_instance& front() const { return *first_; }
  data_instance& add(std::unique_ptr<data_instance> i) {
    std::unique_ptr<data_instance>* last = &first_;
    while (*last) last = &(*last)->next;
    *last = std::move(i);
    return **last;
  }
  template <class F>
  void erase_if(const F& gone) {
    for (std::unique_ptr<data_instance>* i = &first_; *i;)
      if (gone(**i))
        *i = std::move((*i)->next);
      else
        i = &(*i)->next;
  }
  void clear() { first_.reset(); }

 private:
  std::unique_ptr<data_instance> first_;
};

}  // namespace starling::stf
