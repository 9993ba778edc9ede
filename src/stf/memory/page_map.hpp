// Which device each page of a composite place lies on: the owner of most of the elements that are sampled in it
// (CUDASTF, section VI.B).
#pragma once

#include <vector>

#include "starling/machine/local_memory.hpp"
#include "starling/stf/data_interface.hpp"

namespace starling::stf {

// Elements that are looked at in a page of 2 MB; smaller pages get as many.
inline constexpr int samples_per_page = 30;

// The pages of an instance of so many bytes in order, consecutive pages of one device as one piece. The same for the
// same arguments.
std::vector<placed_bytes> map_pages(std::size_t bytes, const array_layout& d, const data_place& composite, int n_pes,
                                    std::size_t page_bytes);

}  // namespace starling::stf
