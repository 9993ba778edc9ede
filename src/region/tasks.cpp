#include "starling/region/tasks.hpp"

namespace starling {
namespace {

using stf::task_error;

}  // namespace

void region_partition::check(index_range elements, index_t which, index_t count) const {
  expect<argument_error>(bounds_ != nullptr, "region_partition: of no region; use x.partition()");
  const index_range all{0, bounds_->back()};
  const auto pes = static_cast<index_t>(bounds_->size()) - 1;
  expect<task_error>(elements == all, "region_partition: a shape of elements ", elements.begin, " to ", elements.end,
                     "; the region has ", all.end, ": use x.shape()");
  expect<task_error>(count == 1 || count == pes, "region_partition: ", count, " devices share a region of ", pes,
                     " PEs; use exec_place::all_devices(), or one device");
  expect<argument_error>(which >= 0 && which < count, "region_partition: part ", which, " of ", count);
}

void region_words::check_read(const region_state& s, int pe, index_t element, where at) {
  const auto refuse = [&](const region_fault& f) {
    throw region_error(message("region at ", at.file, ":", at.line, " (PE ", pe, "): ", text_of(f)));
  };
  if (element < 0 || element >= s.size)
    refuse({region_defect::no_element, element, static_cast<std::uint64_t>(s.size), 0});
  const int chunk = s.chunk_of(pe, element);
  if (!s.gets(pe, chunk, pe)) refuse({region_defect::no_subscriber, chunk, 0, 0});
}

std::shared_ptr<stf::data_state> region_use::token_in(stf::context& ctx) const {
  expect<argument_error>(ctx.on().impl() == region_->on().impl(), "region: of another machine (",
                         region_->on().summary(), ") than the context (", ctx.on().summary(),
                         "); make both on one machine");
  expect<task_error>(region_->loads() > 0, "region: a task uses it before it has a value; call load() first");
  return ctx.token_of(&region_->bounds(), region_->loads(), "region").state();
}

void region_use::check_update(const stf::exec_place& where, int updates) const {
  expect<task_error>(updates == 1, "region::update: a task updates ", updates,
                     " regions; each has parts and tiles of its own, so use a task for each");
  bool all = !where.is_host() && !where.is_automatic();
  if (all) {
    const std::vector<int> pes = where.devices(region_->n_pes());
    all = static_cast<int>(pes.size()) == region_->n_pes();
    for (std::size_t i = 0; all && i < pes.size(); ++i) all = pes[i] == static_cast<int>(i);
  }
  expect<task_error>(all, "region::update: on ", describe(where),
                     "; every PE writes its own part: use exec_place::all_devices()");
  expect<task_error>(region_->state().buffers >= 2,
                     "region::update: region_options::buffers = 1; an update reads one epoch while it writes the next, "
                     "which takes 2");
  const std::string problem = region_->for_programs_alone();
  expect<task_error>(problem.empty(), "region::update: ", problem);
}

void region_use::check_loop(const region_partition* p, index_range elements) const {
  expect<task_error>(p != nullptr && *p == region_partition(region_->bounds()),
                     "region::update: the loop is partitioned by another partitioner; a part belongs to its PE: give "
                     "x.partition() as first argument of parallel_for");
  const index_t size = region_->state().size;
  expect<task_error>(elements == index_range{0, size}, "region::update: a loop over elements ", elements.begin, " to ",
                     elements.end, " of a region with ", size, "; every element is written: use x.shape()");
}

void region_use::check_hierarchy(const region_words::hierarchy_facts& h) const {
  constexpr index_t warp = 32, most = 1024;
  expect<task_error>(h.par_outermost,
                     "region::update: level 0 of the launch's hierarchy is con; blocks that write a region do not wait "
                     "for each other: use par outermost, as in par(con())");
  expect<task_error>(h.has_blocks,
                     "region::update: the launch's hierarchy has no level of blocks, or none of their threads; a tile "
                     "is a block's: use two levels, as in par(con())");
  expect<task_error>(h.waiting_level < 0, "region::update: level ", h.waiting_level,
                     " of the launch's hierarchy is con and has several blocks; blocks that write a region do not wait "
                     "for each other: use par there, or give the level hw_scope::thread");
  expect<task_error>(h.outermost == 0 || h.outermost >= region_->n_pes(),
                     "region::update: level 0 of the launch's "
                     "hierarchy has ",
                     h.outermost, " members for ", region_->n_pes(),
                     " PEs, each of which writes its own part; use at least as many, or leave the width out");
  expect<task_error>(h.threads % warp == 0 && h.threads <= most, "region::update: ", h.threads,
                     " threads in a block of the launch; whole warps write a tile: use a multiple of ", warp, " up to ",
                     most, ", or leave the width out");
}

void region_use::check_place(bool on_host) const {
  expect<argument_error>(!on_host,
                         "region::read: a task on the host, which cannot reach the copies of devices; use "
                         "context::host_launch, which gets a copy, or a device");
}

void region_use::check_copy() const {
  const region_state& s = region_->state();
  expect<task_error>(
      !static_cast<bool>(s.subscribers) || region_->n_pes() == 1,
      "region::read: a function of the host gets what PE 0 has, and region_options::subscribers does not "
      "give it everything; copy what the function needs in a parallel_for of its own");
}

}  // namespace starling
