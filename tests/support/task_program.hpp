// Random programs of tasks, for tests of the order and the values that they give: described once, run by a context and
// by a plain loop. Sources that include it hold kernels.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "starling/stf/context.hpp"
#include "support/random.hpp"

namespace starling::test {

// One task: changes `target` from itself, if it keeps it, and from the sources.
struct task_step {
  static constexpr int on_host = -1;
  static constexpr int affine = -2;

  int target = 0;
  bool keeps = true;         // rw; otherwise write
  std::vector<int> sources;  // read; none is the target
  std::int64_t constant = 0;
  int place = 0;              // a device or on_host
  int target_place = affine;  // where the target's instance is to be: a device, or next to the task
};

struct task_program {
  int data = 0;
  index_t length = 0;
  std::vector<task_step> steps;

  std::string text() const {
    std::ostringstream out;
    for (const task_step& s : steps) {
      out << "x" << s.target << " = ";
      if (s.keeps) out << "3 x" << s.target << " + ";
      out << s.constant;
      for (const int source : s.sources) out << " + x" << source;
      out << "  on " << s.place << ", target on " << s.target_place << "\n";
    }
    return out.str();
  }
};

inline task_program random_task_program(random& r, int n_pes, int data, int steps) {
  task_program p{data, 1 + r.below(70), {}};
  for (int i = 0; i < steps; ++i) {
    task_step s;
    s.target = static_cast<int>(r.below(data));
    s.keeps = r.below(3) != 0;
    const index_t sources = r.below(3);
    for (index_t k = 0; k < sources; ++k) {
      const int source = static_cast<int>(r.below(data));
      if (source != s.target) s.sources.push_back(source);
    }
    s.constant = r.below(1000);
    s.place = r.below(5) == 0 ? task_step::on_host : static_cast<int>(r.below(n_pes));
    if (s.place >= 0 && r.below(4) == 0) s.target_place = static_cast<int>(r.below(n_pes));
    p.steps.push_back(s);
  }
  return p;
}

using task_values = std::vector<std::vector<std::int64_t>>;

inline task_values random_task_values(random& r, const task_program& p) {
  task_values all(static_cast<std::size_t>(p.data), std::vector<std::int64_t>(static_cast<std::size_t>(p.length)));
  for (auto& one : all)
    for (auto& x : one) x = r.below(1000);
  return all;
}

// Products wrap around.
constexpr std::int64_t stepped(bool keeps, std::int64_t before, std::int64_t added) {
  return static_cast<std::int64_t>((keeps ? 3 * static_cast<std::uint64_t>(before) : 0) +
                                   static_cast<std::uint64_t>(added));
}

inline void run_in_order(const task_program& p, task_values& values) {
  for (const task_step& s : p.steps)
    for (std::size_t i = 0; i < static_cast<std::size_t>(p.length); ++i) {
      std::uint64_t added = static_cast<std::uint64_t>(s.constant);
      for (const int source : s.sources)
        added += static_cast<std::uint64_t>(values[static_cast<std::size_t>(source)][i]);
      std::int64_t& x = values[static_cast<std::size_t>(s.target)][i];
      x = stepped(s.keeps, x, static_cast<std::int64_t>(added));
    }
}

// ---- run by a context ----

using int_slice = stf::slice<std::int64_t>;
using const_int_slice = stf::slice<const std::int64_t>;

// The kernel of one task with up to two sources.
struct step_kernel {
  int_slice target;
  const_int_slice source[2] = {};
  bool keeps = false;
  std::int64_t constant = 0;
  int sources = 0;

  STARLING_HD void operator()(block& b) const {
    b.for_each(b.my_share(target.extent(0)), [&](index_t i) {
      std::uint64_t added = static_cast<std::uint64_t>(constant);
      for (int k = 0; k < sources; ++k) added += static_cast<std::uint64_t>(source[k](i));
      target(i) = stepped(keeps, keeps ? target(i) : 0, static_cast<std::int64_t>(added));
    });
  }
};

inline stf::exec_place place_of(const task_step& s) {
  return s.place == task_step::on_host ? stf::exec_place::host() : stf::exec_place::device(s.place);
}

inline void submit(stf::context& ctx, const task_step& s, std::vector<stf::logical_data<int_slice>>& data,
                   const stf::exec_place& where) {
  const stf::data_place place =
      s.target_place == task_step::affine ? stf::data_place::affine() : stf::data_place::device(s.target_place);
  auto& target = data[static_cast<std::size_t>(s.target)];
  const auto put = [&s, where](stream& work, step_kernel k) {
    k.keeps = s.keeps;
    k.constant = s.constant;
    k.sources = static_cast<int>(s.sources.size());
    if (!where.is_host()) return work.launch(3, k);
    work.call([k] {
      for (index_t i = 0; i < k.target.extent(0); ++i) {
        std::uint64_t added = static_cast<std::uint64_t>(k.constant);
        for (int j = 0; j < k.sources; ++j) added += static_cast<std::uint64_t>(k.source[j](i));
        k.target(i) = stepped(k.keeps, k.keeps ? k.target(i) : 0, static_cast<std::int64_t>(added));
      }
    });
  };
  const auto with = [&](auto target_use) {
    const auto source = [&](std::size_t k) { return data[static_cast<std::size_t>(s.sources[k])].read(); };
    if (s.sources.empty())
      ctx.task(where, target_use)->*[&](stream& work, int_slice t) { put(work, {t}); };
    else if (s.sources.size() == 1)
      ctx.task(where, source(0), target_use)->*[&](stream& work, const_int_slice a, int_slice t) {
        put(work, {t, {a}});
      };
    else
      ctx.task(where, source(0), source(1), target_use)
              ->*[&](stream& work, const_int_slice a, const_int_slice b, int_slice t) { put(work, {t, {a, b}}); };
  };
  if (s.keeps)
    with(target.rw(place));
  else
    with(target.write(place));
}

inline void submit(stf::context& ctx, const task_step& s, std::vector<stf::logical_data<int_slice>>& data) {
  submit(ctx, s, data, place_of(s));
}

// Submitted to the context, which is finalized; a fence after every `epoch` tasks, 0: none.
inline void run_tasks(const task_program& p, stf::context& ctx, task_values& values, int epoch = 0) {
  std::vector<stf::logical_data<int_slice>> data;
  for (std::size_t d = 0; d < values.size(); ++d)
    data.push_back(ctx.logical_data(values[d]).set_symbol(message("x", d)));
  int submitted = 0;
  for (const task_step& s : p.steps) {
    submit(ctx, s, data);
    if (epoch > 0 && ++submitted % epoch == 0) ctx.fence();
  }
  ctx.finalize();
}

}  // namespace starling::test
