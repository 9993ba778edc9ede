// How a matrix is to lie on a machine, and how it lies there.
#pragma once

#include <string>
#include <vector>

#include "starling/base/index.hpp"

namespace starling::sparse {

// How the rows of a matrix are partitioned among PEs, in order.
enum class row_split {
  nonzeros,  // equal numbers of entries
  rows,      // equal numbers of rows
};

// How a PE stores its rows.
enum class storage {
  automatic,   // chosen from the matrix
  sliced,      // sliced ELLPACK: 32 rows side by side
  sliced_3x3,  // the same, of dense blocks of 3 x 3
  compressed,  // compressed sparse rows, work partitioned by entries
};

// Whether entries have values. Those of a matrix without any are ones, and nothing is read for them.
enum class entry_values { stored, ones };

struct row_options {
  row_split split = row_split::nonzeros;
  std::vector<index_t> first_rows = {};  // [PEs + 1] given split; empty: by `split`
  storage how = storage::automatic;
  index_t unit = 1;  // rows that stay on one PE together: parts begin at multiples of it
  entry_values values = entry_values::stored;
  bool whole_vectors = false;  // every PE has all of each vector, so columns are numbered as in the matrix
};

struct matrix_facts {
  index_t rows = 0;
  index_t nonzeros = 0;
  storage how = storage::automatic;  // the one chosen
  int offset_bits = 32;              // of a stored column
  std::vector<index_t> first_rows;   // [PEs + 1]
  std::vector<index_t> halo;         // values that each PE gets from others for a product
  std::vector<index_t> bytes;        // of each PE for its rows
};

// The names that users write; those that are not known throw argument_error with the list.
const char* name(storage s);
const char* name(row_split s);
storage storage_named(const std::string& text);
row_split row_split_named(const std::string& text);

}  // namespace starling::sparse
