// What a kernel sees of a region: the tile that it writes, what it stores through, and an epoch that it reads. Compiled
// for check mode, stores and reads are held against the tile, the epoch and the subscribers.
#pragma once

#include <cstring>
#include <vector>

#include "starling/region/state.hpp"

namespace starling {

// A piece of work of this PE's part.
struct tile {
  int number = 0;
  index_range range;                    // that it writes; empty if those are several
  const index_range* ranges = nullptr;  // all of them
  int count = 0;
  bool* kept = nullptr;  // of each_tile

  // The tile has in this epoch e what it has in epoch e - 1, and had that in epoch e - buffers too, whose place e
  // takes: nothing is stored, and chunks that all their tiles leave so are not sent. By all threads of the block, or
  // none.
  STARLING_HD void unchanged() const { *kept = true; }
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

  // What any thread of the block has stored. A collective of the block, and a barrier.
  void join(const block& b, where at) {
    const stored_elements* mine = this;
    const auto* all = reinterpret_cast<const stored_elements* const*>(b.port().gather(&mine, sizeof mine, at));
    std::vector<bool> joined = stored_;
    for (int i = 0; i < b.members(); ++i)
      for (std::size_t k = 0; k < joined.size(); ++k) joined[k] = joined[k] || all[i]->stored_[k];
    b.sync(at);  // nobody looks at what the others have
    stored_ = std::move(joined);
  }

  // The first element that was not stored, or that was; -1: there is none.
  index_t missing() const {
    return first([&](std::size_t k, index_t) { return !stored_[k]; });
  }
  index_t found() const {
    return first([&](std::size_t k, index_t) { return stored_[k]; });
  }

  // The first element of the tile that differs in two copies, byte for byte.
  template <class T>
  index_t different(const T* a, const T* b) const {
    return first([&](std::size_t, index_t e) { return std::memcmp(a + e, b + e, sizeof(T)) != 0; });
  }

 private:
  template <class Holds>
  index_t first(const Holds& holds) const {
    std::size_t k = 0;
    for (int i = 0; i < tile_.count; ++i)
      for (index_t e = tile_.ranges[i].begin; e < tile_.ranges[i].end; ++e, ++k)
        if (holds(k, e)) return e;
    return -1;
  }

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
  STARLING_HD epoch_view(const block& b, const region_state& s, const T* data, std::uint64_t epoch, index_range awaited)
      : data_(data), block_(&b), state_(&s), epoch_(epoch), awaited_(awaited) {}

  STARLING_HD const T& operator()(index_t i, where at = where::current()) const {
    if constexpr (Checked) check(i, at);
    return data_[i];
  }
  STARLING_HD const T* data() const { return data_; }

  // Whether some tile has stored to the chunk in this epoch. If not, it is as in the epoch before. For as long as
  // elements may be read, by any thread.
  STARLING_HD bool stored(int chunk, where at = where::current()) const {
    if constexpr (Checked) check_chunk(chunk, at);
    return epoch_ == 0 || *state_->kept_in(epoch_, chunk).on(block_->pe()) != epoch_;
  }

 private:
  void check(index_t i, where at) const {
    const region_state& s = *state_;
    const int pe = block_->pe();
    if (i < awaited_.begin || i >= awaited_.end)
      region_words::refuse(block_->thread(), {region_defect::no_element, i, static_cast<std::uint64_t>(s.size), 0}, at);
    check_chunk(s.chunk_of(pe, i), at);
  }
  void check_chunk(int chunk, where at) const {
    const int pe = block_->pe();
    if (!state_->gets(pe, chunk, pe))
      region_words::refuse(block_->thread(), {region_defect::no_subscriber, chunk, 0, 0}, at);
  }

  const T* data_;
  const block* block_;
  const region_state* state_;
  std::uint64_t epoch_;
  index_range awaited_;
};

}  // namespace starling
