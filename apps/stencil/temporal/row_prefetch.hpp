// The rows of a strip as they come to a lane, one after the other. On a GPU several are on their way to the block's
// shared memory while the lane computes: as many as hide the way to memory, which registers have no room for.
#pragma once

#include "starling/base/index.hpp"
#include "starling/device/loops.hpp"
#include "starling/device/target.hpp"
#include "stencil/core/cell_vector.hpp"

namespace starling::stencil {

// Cells of a strip's row that a lane has. A virtual device has one lane.
template <class T>
constexpr int pipeline_lane_cells(bool on_gpu) {
  return on_gpu ? cell_vector<T>::width : 64;
}

template <class T, int N>
struct lane_row {
  T cell[N];
};

template <class T>
class row_prefetch {
 public:
  static constexpr int n = pipeline_lane_cells<T>(target::on_gpu);
  using row = lane_row<T, n>;
  using vector = cell_vector<T>;

  // In shared memory, of each thread of a GPU; more than are on their way, so that a row that is asked for does not
  // have the place of the one that is being taken.
  static constexpr int ahead = 6;
  static constexpr int slots = 8;

  // `slot`: the thread's first, the others `stride` vectors apart.
  STARLING_HD row_prefetch(vector* slot, int stride) : slot_(slot), stride_(stride) {}

  // From `first` on, so many rows; behind the last of them it comes again.
  STARLING_HD void begin(const T* first, index_t pitch, int rows) {
    from_ = first;
    pitch_ = pitch;
    left_ = rows;
    number_ = 0;
    if constexpr (target::on_gpu) {
      target::copies_done<0>();
      unrolled<ahead>([&](auto) { ask(); });
    }
  }

  STARLING_HD row next() {
    row r;
    if constexpr (target::on_gpu) {
      target::copies_done<ahead - 1>();
      const vector v = slot_[((number_ - ahead) & (slots - 1)) * stride_];
      unrolled<n>([&](auto i) { r.cell[i] = v.cell[i]; });
      ask();
    } else {
      for (int i = 0; i < n; ++i) r.cell[i] = from_[i];
      pass();
    }
    return r;
  }

 private:
  STARLING_HD void ask() {
    target::copy_ahead(slot_ + (number_ & (slots - 1)) * stride_, from_);
    target::copies_started();
    ++number_;
    pass();
  }
  STARLING_HD void pass() {
    if (--left_ > 0) from_ += pitch_;
  }

  vector* slot_;
  int stride_;
  const T* from_ = nullptr;
  index_t pitch_ = 0;
  int left_ = 0;
  int number_ = 0;  // of rows asked for
};

}  // namespace starling::stencil
