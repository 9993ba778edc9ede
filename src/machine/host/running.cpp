#include "running.hpp"

#include "../outcome.hpp"
#include "block_port.hpp"

namespace starling::host {

running::running(run_group& group, const program& p, const control_words& control, int n_pes, int n_blocks,
                 double deadline_seconds)
    : group_(group),
      program_(p),
      n_pes_(n_pes),
      n_blocks_(n_blocks),
      deadline_seconds_(deadline_seconds),
      states_(static_cast<std::size_t>(n_pes)),
      reports_(static_cast<std::size_t>(n_pes) * static_cast<std::size_t>(n_blocks)) {
  const role_table roles = p.roles.resolve();
  const symmetric_heap::layout& where = group.heap.where();
  for (int pe = 0; pe < n_pes; ++pe) {
    program_state& s = states_[static_cast<std::size_t>(pe)];
    s.pe = pe;
    s.n_pes = n_pes;
    s.n_blocks = n_blocks;
    s.roles = roles;
    s.control = control;
    s.heap = {where.start, where.stride};
    s.scratch_bytes = static_cast<std::uint32_t>(p.options.scratch_bytes);
    for (int b = 0; b < n_blocks; ++b) {
      block_report& r = report_of(pe, b);
      r.pe = pe;
      r.block = b;
      r.role = roles.role_of(b);
    }
  }
}

void running::run_block(int pe, int block_index) {
  try {
    block_port port(*this, pe, block_index);
    block b(state(pe), &port, block_index);
    program_.k.on_host(program_.k.closure.get(), b);
    // A block that computes is not disturbed: it has not returned before the program was ended, and is `running`.
    if (!group_.ended.load()) report_of(pe, block_index).state = block_state::finished;
  } catch (const block_ended&) {
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
    end_group();
  }
}

void running::end_group() {
  group_.ended.store(true);
  group_.lot.wake_all();
}

void running::fail(const block_report& r) {
  block_report& mine = report_of(r.pe, r.block);
  const int role = mine.role;
  mine = r;
  mine.role = role;
  if (r.state != block_state::waiting) end_group();
  throw block_ended{};
}

void running::rethrow(index_range pes) const {
  if (failure_) std::rethrow_exception(failure_);
  const auto first = reports_.begin();
  throw_first_cause({first + pes.begin * n_blocks_, first + pes.end * n_blocks_}, program_, n_pes_, deadline_seconds_);
}

}  // namespace starling::host
