#include "sparse/tile_inputs.hpp"

#include "sparse/on_pes.hpp"

namespace starling::sparse {
namespace {

constexpr index_t line = 8;  // elements of 16 bytes in 128: no chunk ends within so many

// The chunks of each tile, one list after the other.
struct input_lists {
  std::vector<std::int32_t> begins{0}, chunks;
};

}  // namespace

tile_inputs::tile_inputs(machine& m, index_t size, const std::function<int(index_t)>& chunk_of,
                         const index_t* row_start, const std::int32_t* column,
                         const std::vector<std::vector<index_range>>& rows) {
  std::vector<std::int32_t> chunk_of_line;
  for (index_t i = 0; i < size; i += line) chunk_of_line.push_back(chunk_of(i));
  std::vector<std::int64_t> seen_by(static_cast<std::size_t>(chunk_of_line.back()) + 1, -1);
  std::int64_t tile = 0;
  std::vector<input_lists> all(rows.size());
  for (std::size_t pe = 0; pe < rows.size(); ++pe)
    for (const index_range own : rows[pe]) {
      input_lists& lists = all[pe];
      const std::size_t before = lists.chunks.size();
      const auto read = [&](index_t element) {
        const std::int32_t chunk = chunk_of_line[static_cast<std::size_t>(element / line)];
        if (std::exchange(seen_by[static_cast<std::size_t>(chunk)], tile) != tile) lists.chunks.push_back(chunk);
      };
      for (index_t row = own.begin; row < own.end; ++row) {
        read(row);
        for (index_t e = row_start[row]; e < row_start[row + 1]; ++e) read(column[e]);
      }
      if (lists.chunks.size() - before > most) lists.chunks.resize(before);
      lists.begins.push_back(static_cast<std::int32_t>(lists.chunks.size()));
      ++tile;
    }
  begins_ = on_pes(m, all, &input_lists::begins);
  chunks_ = on_pes(m, all, &input_lists::chunks);
}

tile_input_tables tile_inputs::tables() const { return {table(begins_), table(chunks_)}; }

}  // namespace starling::sparse
