#include "sparse/options.hpp"

#include "sparse/named.hpp"

namespace starling::sparse {
namespace {

constexpr naming<storage> storages[] = {{storage::automatic, "auto"},
                                        {storage::sliced, "sliced"},
                                        {storage::sliced_3x3, "sliced_3x3"},
                                        {storage::compressed, "compressed"}};
constexpr naming<row_split> splits[] = {{row_split::nonzeros, "nonzeros"}, {row_split::rows, "rows"}};

}  // namespace

const char* name(storage s) { return name_in(storages, s); }
const char* name(row_split s) { return name_in(splits, s); }
storage storage_named(const std::string& text) { return named_in(storages, "sparse: storage", text); }
row_split row_split_named(const std::string& text) { return named_in(splits, "sparse: partition", text); }

}  // namespace starling::sparse
