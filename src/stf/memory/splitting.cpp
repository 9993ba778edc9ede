#include "splitting.hpp"

#include <algorithm>
#include <limits>

#include "starling/base/error.hpp"

namespace starling::stf {
namespace {

// Where the value is, on a device if possible, from where parts come faster; without a value the host.
data_place home_of(const data_body& d) {
  data_place home = data_place::host();
  for (const data_instance* i : d.instances)
    if (i->valid && i->packed && !i->place.is_host()) home = i->place;
  return home;
}

}  // namespace

splitting::splitting(const std::shared_ptr<context_state>& context, const std::shared_ptr<data_state>& whole,
                     const data_place& where, std::vector<part_description> parts)
    : context_(context), whole_(whole) {
  expect<argument_error>(whole != nullptr,
                         "context::split: logical data that is none; make it with context::logical_data");
  expect<argument_error>(whole->context == context, "context::split: ", whole->body.describe(),
                         " belongs to another context; contexts share no data");
  context->require_outside_scopes("split");
  data_place home = where;
  {
    const auto inside = context_->submit("split");
    const std::lock_guard held(*whole_);
    has_value_ = whole_->body.has_value();
    if (home.is_affine()) home = home_of(whole_->body);
  }
  sync_point_list ready;
  sync_point_list used;
  context_->bring("split", *whole_, has_value_ ? access_mode::read : access_mode::write, home,
                  [&](data_instance& i, sync_point_list&) {
                    whole_->body.expect_usable(access_mode::rw, "split");
                    hold_ = std::make_shared<data_hold>();
                    *hold_ = {&i,  access_mode::rw, {}, "is split into parts", "use these, or call context::join first",
                              true};
                    whole_->body.hold(hold_);
                    ready = i.ready;
                    used = i.used;
                  });
  try {
    make_parts(std::move(parts), ready, used);
  } catch (...) {
    const std::lock_guard held(*whole_);
    whole_->body.let_go(hold_);
    throw;
  }
}

void splitting::make_parts(std::vector<part_description> parts, const sync_point_list& ready,
                           const sync_point_list& used) {
  const data_instance& home = *hold_->instance;
  for (part_description& p : parts) {
    for (std::size_t k = 0; k < p.pieces.size(); ++k) p.pieces[k].start = home.start + p.in_whole[k];
    if (p.what.bytes > 0) p.what.original = std::move(p.pieces);
    p.what.original_place = home.place;
    p.what.made_at = whole_->body.what.made_at;
    parts_.push_back(context_->new_data(std::move(p.what)));
    data_body& body = parts_.back()->body;
    body.secret = whole_->body.secret;
    if (const std::string& name = whole_->body.name(); !name.empty())
      body.rare.change().name = message(name, "[", parts_.size() - 1, "]");
    context_->coherence().name_instances(body);
    if (body.what.bytes == 0) continue;
    data_instance& mine = body.instances.front();
    mine.valid = has_value_;
    mine.ready = ready;
    mine.used = used;
  }
}

void splitting::check_parts(bool strict) const {
  const data_state* empty = nullptr;
  bool any = false;
  for (const auto& p : parts_) {
    p->body.expect_usable(access_mode::write, "join");
    if (p->body.has_value())
      any = any || p->body.what.bytes > 0;
    else
      empty = p.get();
  }
  expect<argument_error>(!strict || empty == nullptr || !any, "stf: join while ",
                         empty == nullptr ? "" : empty->body.describe(),
                         " has no value, which other parts have; write it first");
}

void splitting::join(bool strict) {
  std::vector<std::unique_lock<data_state>> held;
  held.emplace_back(*whole_);
  for (const auto& p : parts_) held.emplace_back(*p);
  if (!open_) return;
  check_parts(strict);
  bool wrote = false;
  bool complete = true;
  sync_point_list over;
  std::string failed_by;
  const auto gone = std::make_shared<data_hold>();
  *gone = {nullptr,
           access_mode::rw,
           {},
           "is a part that was joined to the whole again",
           "use the whole, or call context::split again",
           false};
  for (const auto& p : parts_) {
    data_body& d = p->body;
    complete = complete && d.has_value();
    if (!d.failed_by().empty()) failed_by = d.failed_by();
    context_->coherence().write_back(d);
    wrote = wrote || d.version > 0;
    for (const data_instance* i : d.instances) {
      if (!i->users_memory) continue;
      over.add(i->ready);
      over.add(i->used);
    }
    context_->coherence().drop(d);
    d.set_failed_by("");
    d.hold(gone);
  }
  data_body& all = whole_->body;
  wrote = wrote && complete;
  coherence::release(all, *hold_->instance, wrote, over);
  if (wrote) {
    all.set_failed_by(failed_by);
    all.forget_users();
  }
  all.let_go(hold_);
  open_ = false;
}

namespace detail {
namespace {

std::size_t row_bytes(const split_plan& plan) {
  std::size_t bytes = plan.element_bytes;
  for (std::size_t d = 1; d < plan.extents.size(); ++d) bytes *= static_cast<std::size_t>(plan.extents[d]);
  return bytes;
}

// Where a box of an array lies in it, dimensions from the slowest on.
part_description pieces_of(const std::vector<index_range>& part, const std::vector<index_t>& extents,
                           std::size_t element_bytes) {
  const std::size_t rank = extents.size();
  std::vector<std::size_t> stride(rank + 1, element_bytes);
  for (std::size_t d = rank; d-- > 0;)
    stride[d] = stride[d + 1] * (d + 1 < rank ? static_cast<std::size_t>(extents[d + 1]) : 1);
  // Of the dimensions after `run` the part has everything, so that its range of `run` is in one piece.
  std::size_t run = rank - 1;
  while (run > 0 && part[run].size() == extents[run]) --run;
  std::size_t first = 0;
  std::size_t bytes = stride[run] * static_cast<std::size_t>(part[run].size());
  for (std::size_t d = 0; d < rank; ++d) first += static_cast<std::size_t>(part[d].begin) * stride[d];
  // Rows of that many bytes along the next dimension; a piece for every coordinate of those before.
  const std::size_t rows = run == 0 ? 1 : static_cast<std::size_t>(part[run - 1].size());
  const std::size_t pitch = run == 0 ? bytes : stride[run - 1];
  std::size_t pieces = 1;
  for (std::size_t d = 0; d + 1 < run; ++d) pieces *= static_cast<std::size_t>(part[d].size());
  part_description all;
  for (std::size_t k = 0; k < pieces; ++k) {
    std::size_t start = first;
    std::size_t rest = k;
    for (std::size_t d = run < 1 ? 0 : run - 1; d-- > 0;) {
      const auto n = static_cast<std::size_t>(part[d].size());
      start += rest % n * stride[d];
      rest /= n;
    }
    all.pieces.push_back({nullptr, k * rows * bytes, bytes, rows, pitch});
    all.in_whole.push_back(start);
  }
  return all;
}

void check_parts(const split_plan& plan) {
  const auto& parts = plan.parts;
  const auto& extents = plan.extents;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto empty = [&](std::size_t k) {
      return std::any_of(parts[k].begin(), parts[k].end(), [](const index_range& r) { return r.empty(); });
    };
    for (std::size_t d = 0; d < extents.size(); ++d)
      expect<argument_error>(empty(i) || (parts[i][d].begin >= 0 && parts[i][d].end <= extents[d]),
                             "context::split: part ", i, " goes from ", parts[i][d].begin, " to ", parts[i][d].end,
                             " in dimension ", plan.column_major ? extents.size() - 1 - d : d, " of extent ",
                             extents[d], "; it must lie inside");
    for (std::size_t j = 0; j < i; ++j) {
      bool apart = empty(i) || empty(j);
      for (std::size_t d = 0; d < extents.size(); ++d)
        apart = apart || parts[i][d].end <= parts[j][d].begin || parts[j][d].end <= parts[i][d].begin;
      expect<argument_error>(apart, "context::split: parts ", j, " and ", i,
                             " have elements in common; a partitioner gives each element to one part");
    }
  }
}

part_description describe(const split_plan& plan, int i) {
  const std::vector<index_range>& part = plan.parts[static_cast<std::size_t>(i)];
  part_description p = pieces_of(part, plan.extents, plan.element_bytes);
  p.what.bytes = plan.element_bytes;
  for (const index_range& r : part) {
    p.what.bytes *= static_cast<std::size_t>(r.size());
    p.what.array.extents.push_back(r.size());
  }
  p.what.array.column_major = plan.column_major;
  p.what.alignment = plan.alignment;
  p.what.array.element_bytes = plan.element_bytes;
  const index_range wide = plan.rows_with_halo(i);
  p.what.ghosts_before = static_cast<std::size_t>(part[0].begin - wide.begin) * row_bytes(plan);
  p.what.ghosts_after = static_cast<std::size_t>(wide.end - part[0].end) * row_bytes(plan);
  return p;
}

}  // namespace

index_range split_plan::rows_with_halo(int i) const {
  const index_range mine = parts[static_cast<std::size_t>(i)][0];
  if (mine.empty()) return mine;
  if (around.periodic) return {mine.begin - around.rows, mine.end + around.rows};
  return {mine.begin - std::min(around.rows, mine.begin), mine.end + std::min(around.rows, extents[0] - mine.end)};
}

split_handle::split_handle(const std::shared_ptr<context_state>& context, const std::shared_ptr<data_state>& whole,
                           const data_place& where, split_plan plan)
    : plan_(std::move(plan)) {
  check_parts(plan_);
  expect<argument_error>(!plan_.around.periodic || plan_.around.rows <= plan_.extents[0],
                         "context::split: a periodic halo of ", plan_.around.rows, " rows round ", plan_.extents[0],
                         "; at most as many as there are");
  const int n = static_cast<int>(plan_.parts.size());
  std::vector<part_description> parts;
  for (int i = 0; i < n; ++i) parts.push_back(describe(plan_, i));
  state_ = std::make_shared<splitting>(context, whole, where, std::move(parts));
  context->add_split(state_);
  ghosts_.resize(plan_.parts.size());
  if (plan_.around.rows > 0)
    for (int i = 0; i < n; ++i) ghosts_[static_cast<std::size_t>(i)] = ghosts_of(i);
}

std::shared_ptr<const ghost_rows> split_handle::ghosts_of(int i) const {
  auto all = std::make_shared<ghost_rows>();
  const std::size_t row = row_bytes(plan_);
  const index_range mine = plan_.parts[static_cast<std::size_t>(i)][0];
  const index_range wide = plan_.rows_with_halo(i);
  all->before = static_cast<std::size_t>(mine.begin - wide.begin) * row;
  const auto add = [&](int j, index_t shift) {
    const index_range theirs = plan_.parts[static_cast<std::size_t>(j)][0];
    const index_t begin = std::max(wide.begin, theirs.begin + shift);
    const index_t end = std::min(wide.end, theirs.end + shift);
    if (begin >= end) return;
    all->sources.push_back({part(j), static_cast<std::size_t>(begin - shift - theirs.begin) * row,
                            static_cast<std::ptrdiff_t>(begin - mine.begin) * static_cast<std::ptrdiff_t>(row),
                            static_cast<std::size_t>(end - begin) * row});
  };
  for (int j = 0; j < static_cast<int>(plan_.parts.size()); ++j) {
    if (j != i) add(j, 0);
    // Round the ends a part may be its own neighbour.
    if (plan_.around.periodic)
      for (const index_t shift : {-plan_.extents[0], plan_.extents[0]}) add(j, shift);
  }
  return all;
}

split_handle::~split_handle() {
  if (!state_->open()) return;
  const auto end = [s = state_] { s->join(false); };
  try {
    state_->context()->require_outside_scopes("the end of split");
    const auto inside = state_->context()->submit("the end of split");
    end();
  } catch (...) {
    state_->context()->try_later(end);
  }
}

const std::shared_ptr<data_state>& split_handle::part(int i) const { return state_->part(i); }

void check_count(index_t count) {
  expect<argument_error>(count >= 1 && count <= std::numeric_limits<int>::max(), "context::split: into ", count,
                         " parts; at least 1, at most 2^31 - 1");
}

void check_halo(halo h) {
  expect<argument_error>(h.rows >= 0, "context::split: a halo of ", h.rows, " rows; at least 0");
}

void refuse_halo() {
  throw argument_error("split_data::with_halo: the data was split without one; call context::split(x, n, halo{rows})");
}

void refuse_part(int i, int count) {
  throw range_error(message("split_data: part ", i, " of ", count, "; parts are numbered from 0"));
}

}  // namespace detail

}  // namespace starling::stf
