#include "page_map.hpp"

#include <algorithm>
#include <random>

#include "starling/base/error.hpp"

namespace starling::stf {
namespace {

// The owner of one element, counted in the order of memory.
int owner_of(std::size_t element, const array_layout& d, const data_place& place, int count) {
  std::vector<index_t> coords(d.extents.size());
  auto rest = static_cast<index_t>(element);
  for (std::size_t k = coords.size(); k-- > 0;) {
    coords[k] = rest % d.extents[k];
    rest /= d.extents[k];
  }
  return place.partitioner().owner(coords.data(), d.extents.data(), static_cast<int>(coords.size()), d.column_major,
                                   count);
}

}  // namespace

std::vector<placed_bytes> map_pages(std::size_t bytes, const array_layout& d, const data_place& composite, int n_pes,
                                    std::size_t page_bytes) {
  const std::vector<int> devices = composite.grid().devices(n_pes);
  const std::size_t pages = (bytes + page_bytes - 1) / page_bytes;
  if (d.element_bytes == 0 || d.extents.empty()) return {{devices.front(), pages * page_bytes}};
  expect<argument_error>(d.extents.size() <= static_cast<std::size_t>(most_dimensions), "stf: data of ",
                         d.extents.size(), " dimensions in ", describe(composite),
                         "; composite places partition up to ", most_dimensions,
                         ": give the data another place, or fewer dimensions");
  const std::size_t elements = bytes / d.element_bytes;
  std::vector<placed_bytes> pieces;
  std::vector<int> votes(devices.size());
  for (std::size_t page = 0; page < pages; ++page) {
    const std::size_t first = page * page_bytes / d.element_bytes;
    const std::size_t last = std::max(first + 1, std::min(elements, (page + 1) * page_bytes / d.element_bytes));
    std::mt19937_64 random(page);
    std::fill(votes.begin(), votes.end(), 0);
    for (int s = 0; s < samples_per_page; ++s) {
      const std::size_t element = std::min(elements - 1, first + random() % (last - first));
      const int owner = owner_of(element, d, composite, static_cast<int>(devices.size()));
      expect<range_error>(owner >= 0 && owner < static_cast<int>(devices.size()), "stf: the partitioner of ",
                          describe(composite), " names owner ", owner, " of element ", element, "; there are ",
                          devices.size(), ", numbered from 0");
      ++votes[static_cast<std::size_t>(owner)];
    }
    const int pe = devices[static_cast<std::size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin())];
    if (pieces.empty() || pieces.back().pe != pe)
      pieces.push_back({pe, page_bytes});
    else
      pieces.back().bytes += page_bytes;
  }
  return pieces;
}

}  // namespace starling::stf
