// What a kernel sees of a region: the tile that it writes, what it stores through, and an epoch that it reads. Compiled
// for check mode, stores and reads are held against the tile, the epoch and the subscribers.
#pragma once

#include <vector>

#include "starling/region/state.hpp"

namespace starling {

// A piece of work of this PE's part.
struct tile {
  int number = 0;
  index_range range;                    // that it writes; empty if those are several
  const index_range* ranges = nullptr;  // all of them
  int count = 0;
};

namespace region_words {

// In check mode: which elements of a tile have been stored.
class stored_elements {
 public:
  explicit stored_elements(const tile& t) : tile_(t) {
    index_t n = 0;
    for (int i = 0; i < t.count; ++i) n += t.ranges[i].size();
    stored_.resize(static_cast<std::size_t>(n));
  }

  // Whether the tile has the element.
  bool store(index_t element) {
    index_t before = 0;
    for (int i = 0; i < tile_.count; ++i) {
      const index_range r = tile_.ranges[i];
      if (element >= r.begin && element < r.end) {
        stored_[static_cast<std::size_t>(before + element - r.begin)] = true;
        return true;
      }
      before += r.size();
    }
    return false;
  }

  // The first element that was not stored; -1: all were.
  index_t missing() const {
    std::size_t k = 0;
    for (int i = 0; i < tile_.count; ++i)
      for (index_t e = tile_.ranges[i].begin; e < tile_.ranges[i].end; ++e, ++k)
        if (!stored_[k]) return e;
    return -1;
  }

 private:
  tile tile_;
  std::vector<bool> stored_;
};

}  // namespace region_words

// What a tile's elements are stored through: next(i) = value. To the PE's own copy, and with inline stores on GPUs to
// those of the subscribers.
template <class T, bool Checked = target::checked>
class tracked {
 public:
  class element {
   public:
    STARLING_HD element(const tracked& all, index_t i) : all_(all), i_(i) {}
    STARLING_HD const element& operator=(const T& value) const {
      all_.store(i_, value);
      return *this;
    }

   private:
    const tracked& all_;
    index_t i_;
  };

  // `host`: where the epoch lies in the host's copy, if there is one.
  STARLING_HD tracked(const block& b, const region_state& s, sym<T> values, T* host,
                      region_words::stored_elements* stored)
      : block_(&b), state_(&s), values_(values), own_(values.on(b.pe())), host_(host), stored_(stored) {}

  STARLING_HD element operator()(index_t i, where at = where::current()) const {
    if constexpr (Checked)
      if (!stored_->store(i)) region_words::refuse(block_->thread(), {region_defect::outside_tile, i, 0, 0}, at);
    return element(*this, i);
  }

 private:
  STARLING_HD void store(index_t i, const T& value) const {
    own_[i] = value;
    if constexpr (target::on_gpu) {
      if (!state_->stores_inline()) return;
      if (host_ != nullptr) host_[i] = value;
      const int pe = block_->pe();
      const int chunk = state_->chunk_of(pe, i);
      for (int k = 1; k < block_->n_pes(); ++k) {
        const int to = (pe + k) % block_->n_pes();
        if (state_->gets(pe, chunk, to)) values_.on(to)[i] = value;
      }
    }
  }

  const block* block_;
  const region_state* state_;
  sym<T> values_;
  T* own_;
  T* host_;
  region_words::stored_elements* stored_;
};

// An epoch as this PE has it: old(i) is element i.
template <class T, bool Checked = target::checked>
class epoch_view {
 public:
  STARLING_HD epoch_view(const block& b, const region_state& s, const T* data, index_range awaited)
      : data_(data), block_(&b), state_(&s), awaited_(awaited) {}

  STARLING_HD const T& operator()(index_t i, where at = where::current()) const {
    if constexpr (Checked) check(i, at);
    return data_[i];
  }
  STARLING_HD const T* data() const { return data_; }

 private:
  void check(index_t i, where at) const {
    const region_state& s = *state_;
    const int pe = block_->pe();
    if (i < awaited_.begin || i >= awaited_.end)
      region_words::refuse(block_->thread(), {region_defect::no_element, i, static_cast<std::uint64_t>(s.size), 0}, at);
    const int chunk = s.chunk_of(pe, i);
    if (!s.gets(pe, chunk, pe)) region_words::refuse(block_->thread(), {region_defect::no_subscriber, chunk, 0, 0}, at);
  }

  const T* data_;
  const block* block_;
  const region_state* state_;
  index_range awaited_;
};

}  // namespace starling
