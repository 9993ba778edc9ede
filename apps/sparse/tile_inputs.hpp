// Which chunks of a region the tiles of region_rows read, so that a kernel can leave out tiles none of whose inputs has
// changed. Made on the host from the matrix; the device's part is plain data.
#pragma once

#include <functional>
#include <vector>

#include "sparse/csr.hpp"
#include "starling/region/region.hpp"

namespace starling::sparse {

struct tile_input_tables {
  sym<const std::int32_t> begins;  // [tiles + 1] where a tile's chunks begin
  sym<const std::int32_t> chunks;

  // Whether the tile may come to something else than in the epoch before `old`: a chunk that it reads, its own rows
  // included, was stored in that epoch. By all threads of the block.
  template <class T>
  STARLING_HD bool stored(const block& b, int tile, const epoch_view<T>& old) const {
    const std::int32_t begin = begins.on(b.pe())[tile];
    const std::int32_t end = begins.on(b.pe())[tile + 1];
    if (begin == end) return true;  // too many to look at
    bool some = false;
    b.for_each(end - begin, [&](index_t i) { some = some || old.stored(chunks.on(b.pe())[begin + i]); });
    return b.any(some);
  }
};

class tile_inputs {
 public:
  // Of a tile that reads more chunks than this nothing is kept: some have always changed.
  static constexpr int most = 256;

  // `rows`: of each tile of each PE.
  template <class T>
  tile_inputs(machine& m, const csr_view<T>& a, const region<T>& x, const std::vector<std::vector<index_range>>& rows)
      : tile_inputs(m, x.size(), [&](index_t i) { return x.chunk_of(i); }, a.row_start, a.column, rows) {}

  tile_input_tables tables() const;

 private:
  tile_inputs(machine& m, index_t size, const std::function<int(index_t)>& chunk_of, const index_t* row_start,
              const std::int32_t* column, const std::vector<std::vector<index_range>>& rows);

  symmetric_array<std::int32_t> begins_, chunks_;
};

}  // namespace starling::sparse
