// data_layout: what is kept of a data_description for as long as the data lives. There may be a great many data, most
// of them small, so that only what cannot be told from their bytes takes memory of its own.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "rare_members.hpp"
#include "starling/stf/data_interface.hpp"

namespace starling::stf {

class data_layout {
 public:
  data_layout() = default;
  // `packed`: the user's memory is like an instance, or there is none, so that copies need no list of its parts.
  data_layout(data_description what, bool packed)
      : bytes(what.bytes), made_at(what.made_at), element_bytes_(what.array.element_bytes) {
    one_dimension_ = is_line(what);
    const bool told_by_bytes = one_dimension_ || (what.array.extents.empty() && !what.array.column_major);
    if (told_by_bytes && packed && what.ghosts_before + what.ghosts_after == 0) return;
    rare& more = rare_.change();
    more.array = std::move(what.array);
    if (!packed) more.original = std::move(what.original);
    more.ghosts_before = what.ghosts_before;
    more.ghosts_after = what.ghosts_after;
  }

  std::size_t bytes = 0;  // of an instance
  call_site made_at = no_call_site;

  // Whether it takes no memory of its own.
  bool plain() const { return !rare_; }
  // Whether places over several devices can partition it among them.
  bool partitionable() const { return one_dimension_ || !rare_->array.extents.empty(); }
  array_layout array() const {
    if (rare_ || !one_dimension_) return rare_->array;
    return {element_bytes_, {static_cast<index_t>(bytes / element_bytes_)}, false};
  }
  // Where the user's memory has what an instance has, if it is laid out otherwise.
  const std::vector<memory_part>& original() const { return rare_->original; }
  std::size_t ghosts_before() const { return rare_->ghosts_before; }
  std::size_t ghosts_after() const { return rare_->ghosts_after; }

 private:
  static bool is_line(const data_description& what) {
    const array_layout& a = what.array;
    return a.extents.size() == 1 && a.element_bytes > 0 && !a.column_major &&
           static_cast<std::size_t>(a.extents.front()) * a.element_bytes == what.bytes;
  }

  struct rare {
    array_layout array;
    std::vector<memory_part> original;
    std::size_t ghosts_before = 0;
    std::size_t ghosts_after = 0;
  };
  std::size_t element_bytes_ = 0;
  bool one_dimension_ = false;
  rare_members<rare> rare_;
};

}  // namespace starling::stf
