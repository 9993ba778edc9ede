#include "starling/stf/place.hpp"

#include <limits>
#include <numeric>

#include "starling/base/error.hpp"

namespace starling::stf {
namespace {

std::string list_of(const std::vector<int>& pes) {
  std::string text;
  for (const int pe : pes) text += (text.empty() ? "" : ", ") + std::to_string(pe);
  return text;
}

}  // namespace

exec_place exec_place::grid(std::vector<int> pes) {
  expect<argument_error>(!pes.empty(), "exec_place::grid: no devices; name at least one");
  exec_place place(kind::grid, pes.front());
  place.grid_ = std::make_shared<const std::vector<int>>(std::move(pes));
  return place;
}

std::vector<int> exec_place::devices(int n_pes) const {
  if (kind_ == kind::host) return {};
  expect<argument_error>(kind_ != kind::automatic,
                         "exec_place::automatic() names no devices: the context chooses one when a task is submitted; "
                         "name a device or a grid here");
  std::vector<int> pes;
  if (kind_ == kind::all) {
    pes.resize(static_cast<std::size_t>(n_pes));
    std::iota(pes.begin(), pes.end(), 0);
  } else if (kind_ == kind::grid) {
    pes = *grid_;
  } else {
    pes = {pe_};
  }
  for (const int pe : pes)
    expect<range_error>(pe >= 0 && pe < n_pes, "exec_place: device ", pe, " of a machine with ", n_pes,
                        "; devices are numbered from 0");
  return pes;
}

bool operator==(const exec_place& a, const exec_place& b) {
  if (a.kind_ != b.kind_ || a.pe_ != b.pe_) return false;
  return a.grid_ == b.grid_ || (a.grid_ && b.grid_ && *a.grid_ == *b.grid_);
}

std::string describe(const exec_place& p) {
  if (p.is_host()) return "host";
  if (p.is_automatic()) return "automatic";
  if (p == exec_place::all_devices()) return "all devices";
  const std::vector<int> pes = p.devices(std::numeric_limits<int>::max());
  return (p.is_grid() ? "devices " : "device ") + list_of(pes);
}

data_place data_place::composite_of(const any_partitioner& p, const exec_place& grid) {
  expect<argument_error>(grid.is_grid(), "data_place::composite: over ", describe(grid),
                         "; name a grid: exec_place::all_devices() or exec_place::grid({...})");
  data_place place(kind::composite, 0);
  place.partitioned_ = std::make_shared<const partitioned>(partitioned{grid, p});
  return place;
}

void data_place::check(int n_pes) const {
  if (is_composite()) (void)grid().devices(n_pes);
  expect<range_error>(kind_ != kind::device || (pe_ >= 0 && pe_ < n_pes), "stf: data_place::device(", pe_,
                      ") on a machine with ", n_pes, " devices; they are numbered from 0");
}

bool operator==(const data_place& a, const data_place& b) {
  if (a.kind_ != b.kind_ || a.pe_ != b.pe_) return false;
  return a.partitioned_ == b.partitioned_ || (a.partitioned_ && b.partitioned_ && *a.partitioned_ == *b.partitioned_);
}

std::string describe(const data_place& p) {
  if (p.is_affine()) return "affine";
  if (p.is_host()) return "host";
  if (p.is_managed()) return "managed memory";
  if (p.is_replicated()) return "all devices of the task (data_place::replicated)";
  if (p.is_composite()) return "composite over " + describe(p.grid());
  return "device " + std::to_string(p.pe());
}

}  // namespace starling::stf
