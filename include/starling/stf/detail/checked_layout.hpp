// checked_layout: row-major order for mdspan whose mapping looks at every index. On virtual devices an index outside of
// its extent throws range_error; on a GPU the thread reports it and ends, and the launch throws.
#pragma once

#include <cuda/std/mdspan>
#include <type_traits>

#include "starling/base/index.hpp"
#include "starling/device/bounds.hpp"
#include "starling/device/target.hpp"
#include "starling/stf/detail/element_order.hpp"

namespace starling::stf {

// Throws range_error. Out of line, as what happens once at most.
[[noreturn]] void refuse_index(index_t index, int dimension, index_t extent);

struct checked_layout {
  template <class Extents>
  class mapping {
   public:
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using layout_type = checked_layout;

    constexpr mapping() noexcept = default;
    STARLING_HD constexpr mapping(const Extents& extents) noexcept : extents_(extents) {}  // NOLINT: as layout_right's
    STARLING_HD constexpr mapping(const cuda::std::layout_right::mapping<Extents>& plain) noexcept  // NOLINT
        : extents_(plain.extents()) {}
    template <class OtherExtents>
      requires std::is_constructible_v<Extents, OtherExtents>
    STARLING_HD constexpr mapping(const mapping<OtherExtents>& other) noexcept  // NOLINT
        : extents_(other.extents()) {}

    STARLING_HD constexpr const Extents& extents() const noexcept { return extents_; }
    STARLING_HD constexpr index_type required_span_size() const noexcept {
      index_type n = 1;
      for (rank_type d = 0; d < Extents::rank(); ++d) n *= extents_.extent(d);
      return n;
    }

    // Not noexcept: it throws.
    template <class... Indices>
      requires(sizeof...(Indices) == Extents::rank() && (std::is_convertible_v<Indices, index_type> && ...))
    STARLING_HD constexpr index_type operator()(Indices... indices) const {
      index_type offset = 0;
      int dimension = 0;
      ((offset = offset * extents_.extent(static_cast<rank_type>(dimension)) +
                 checked(static_cast<index_type>(indices), dimension),
        ++dimension),
       ...);
      return offset;
    }

    STARLING_HD constexpr index_type stride(rank_type dimension) const noexcept {
      index_type s = 1;
      for (rank_type d = dimension + 1; d < Extents::rank(); ++d) s *= extents_.extent(d);
      return s;
    }

    STARLING_HD static constexpr bool is_always_unique() noexcept { return true; }
    STARLING_HD static constexpr bool is_always_exhaustive() noexcept { return true; }
    STARLING_HD static constexpr bool is_always_strided() noexcept { return true; }
    STARLING_HD static constexpr bool is_unique() noexcept { return true; }
    STARLING_HD static constexpr bool is_exhaustive() noexcept { return true; }
    STARLING_HD static constexpr bool is_strided() noexcept { return true; }

    STARLING_HD friend constexpr bool operator==(const mapping& a, const mapping& b) noexcept {
      return a.extents_ == b.extents_;
    }

   private:
    STARLING_HD constexpr index_type checked(index_type index, int dimension) const {
      const index_type extent = extents_.extent(static_cast<rank_type>(dimension));
      if (index >= 0 && index < extent) return index;
      if constexpr (target::on_gpu)
        end_outside_bounds(index, dimension, extent);
      else
        refuse_index(index, dimension, extent);
      return 0;
    }

    Extents extents_{};
  };
};

template <>
inline constexpr element_order order_of<checked_layout> = element_order::row_major;

}  // namespace starling::stf
