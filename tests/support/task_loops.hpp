// The steps of random programs of tasks as loops on devices. Sources that include it hold kernels.
#pragma once

#include "support/task_program.hpp"

namespace starling::test {

// The body of a step.
struct step_body {
  bool keeps = true;
  std::int64_t constant = 0;

  STARLING_HD void operator()(index_t i, int_slice t) const { set(t(i), 0); }
  STARLING_HD void operator()(index_t i, const_int_slice a, int_slice t) const {
    set(t(i), static_cast<std::uint64_t>(a(i)));
  }
  STARLING_HD void operator()(index_t i, const_int_slice a, const_int_slice b, int_slice t) const {
    set(t(i), static_cast<std::uint64_t>(a(i)) + static_cast<std::uint64_t>(b(i)));
  }
  STARLING_HD void set(std::int64_t& x, std::uint64_t added) const {
    x = stepped(keeps, keeps ? x : 0, static_cast<std::int64_t>(added + static_cast<std::uint64_t>(constant)));
  }
};

// A step that names the host is done by device 0.
inline void submit_loop(stf::context& ctx, const task_step& s, std::vector<stf::logical_data<int_slice>>& data) {
  const stf::exec_place where = stf::exec_place::device(s.place < 0 ? 0 : s.place);
  const stf::data_place place =
      s.target_place == task_step::affine ? stf::data_place::affine() : stf::data_place::device(s.target_place);
  auto& target = data[static_cast<std::size_t>(s.target)];
  const auto source = [&](std::size_t k) { return data[static_cast<std::size_t>(s.sources[k])].read(); };
  const auto with = [&](auto use) {
    const step_body body{s.keeps, s.constant};
    if (s.sources.empty())
      ctx.parallel_for(where, target.shape(), use)->*body;
    else if (s.sources.size() == 1)
      ctx.parallel_for(where, target.shape(), source(0), use)->*body;
    else
      ctx.parallel_for(where, target.shape(), source(0), source(1), use)->*body;
  };
  if (s.keeps)
    with(target.rw(place));
  else
    with(target.write(place));
}

}  // namespace starling::test
