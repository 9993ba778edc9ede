#include "program_run.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "starling/base/error.hpp"
#include "starling/stf/task_error.hpp"

namespace starling::stf {
namespace {

// A virtual device has few blocks, and each is a thread.
constexpr int most_units_of_virtual_device = 3;
constexpr int blocks_of_virtual_program = 6;
// What one block of a GPU does in the time of a hand-over to others. Virtual devices share all there is, so that what
// holds for several blocks is tried.
constexpr int most_alone_on_gpu = 8;
constexpr int most_alone_on_host = 1;

// Shared memory of a block for its steps and waits, and for what its operations carry, unless they want much
// themselves.
constexpr std::size_t list_room = 8192;
constexpr std::size_t much_scratch = std::size_t{16} << 10;

constexpr std::size_t alignment = 256;
std::size_t aligned(std::size_t n, std::size_t to = alignment) { return (n + to - 1) / to * to; }

// What a report of a wait says before the number of the round.
std::string shown(const program_operation& i) { return i.name + ", round"; }

bool works(const program_operation& i) { return i.code.program != nullptr; }

// An operation whose blocks are work of its task to check mode.
struct scoped_operation {
  std::shared_ptr<const access_scope> scope;
  operation_function work;
  std::shared_ptr<const void> closure;

  static void run(const void* operation, block& b) {
    const auto& i = *static_cast<const scoped_operation*>(operation);
    const scoped_block here(i.scope.get());
    i.work(i.closure.get(), b);
  }
};

void put_in_scope(program_operation& i) {
  if (!i.scope || !works(i)) return;
  i.code.closure =
      std::make_shared<const scoped_operation>(scoped_operation{i.scope, i.code.on_host, std::move(i.code.closure)});
  i.code.on_host = &scoped_operation::run;
}

// What one device gets of one program: all of it in one piece of memory.
class table_writer {
 public:
  table_writer(std::byte* at, const program_plan& plan, const operation_list& list, int pe, int unit)
      : at_(at), plan_(plan), list_(list), blocks_(plan.on(pe, unit)), pe_(pe), unit_(unit) {
    for (const auto& steps : blocks_) {
      n_steps_ += steps.size();
      for (const planned_step& s : steps) n_waits_ += s.waits.size();
    }
    size_ = aligned(sizeof(program_table));
    first_step_ = reserve((blocks_.size() + 1) * sizeof(std::int32_t));
    steps_ = reserve(n_steps_ * sizeof(program_step));
    waits_ = reserve(n_waits_ * sizeof(program_wait));
    for (const program_operation& i : list.operations) {
      names_.push_back(reserve(shown(i).size() + 1));
      closures_.push_back(i.pe == pe && i.unit == unit ? reserve(i.code.bytes) : 0);
    }
  }
  std::size_t bytes() const { return size_; }
  // Of the steps and waits of the block that has most.
  std::size_t longest_list() const {
    std::size_t longest = 0;
    for (const auto& steps : blocks_) {
      std::size_t list = steps.size() * sizeof(program_step);
      for (const planned_step& s : steps) list += s.waits.size() * sizeof(program_wait);
      longest = std::max(longest, list);
    }
    return aligned(longest, near_alignment);
  }
  // Of the block that has most of them.
  std::size_t most_steps() const {
    std::size_t most = 0;
    for (const auto& of_block : blocks_) most = std::max(most, of_block.size());
    return most;
  }
  // For what the operation that carries most carries.
  std::size_t closure_room() const {
    std::size_t most = 0;
    for (const program_operation& i : list_.operations)
      if (i.pe == pe_ && i.unit == unit_) most = std::max(most, i.code.bytes);
    return static_cast<std::size_t>(room_of_closure(most));
  }

  // Virtual devices call the closures where the host has them.
  std::vector<std::byte> write(bool on_gpus) const {
    std::vector<std::byte> all(size_);
    const auto put = [&](std::size_t where, const void* what, std::size_t bytes) {
      if (bytes > 0) std::memcpy(all.data() + where, what, bytes);
    };
    std::vector<std::int32_t> first;
    std::vector<program_step> steps;
    std::vector<program_wait> waits;
    for (const auto& of_block : blocks_) {
      first.push_back(static_cast<std::int32_t>(steps.size()));
      for (const planned_step& planned : of_block) {
        const auto which = static_cast<std::size_t>(planned.operation);
        const program_operation& operation = list_.operations[which];
        program_step s;
        if (works(operation)) {
          s.on_host = operation.code.on_host;
          s.closure = on_gpus ? at_ + closures_[which] : operation.code.closure.get();
          s.kind = operation.code.kind;
          s.closure_words = static_cast<std::int32_t>(room_of_closure(operation.code.bytes) /
                                                      static_cast<index_t>(sizeof(std::uint64_t)));
        }
        s.first = planned.part;
        s.stride = plan_.operations[which].parts;
        s.blocks = operation.divisible ? s.stride : operation.blocks;
        s.counter = planned.operation;
        s.tells = plan_.operations[which].tells;
        s.waits = static_cast<std::int32_t>(waits.size());
        for (const planned_wait& w : planned.waits) {
          const auto earlier = static_cast<std::size_t>(w.operation);
          program_wait p;
          p.counter = w.operation;
          p.lag = w.lag;
          p.parts = static_cast<std::uint64_t>(plan_.operations[earlier].parts);
          p.from = list_.operations[earlier].pe;
          p.name = reinterpret_cast<const char*>(at_ + names_[earlier]);
          waits.push_back(p);
        }
        s.waits_end = static_cast<std::int32_t>(waits.size());
        steps.push_back(s);
      }
    }
    first.push_back(static_cast<std::int32_t>(steps.size()));
    program_table t;
    t.first_step = reinterpret_cast<const std::int32_t*>(at_ + first_step_);
    t.steps = reinterpret_cast<const program_step*>(at_ + steps_);
    t.waits = reinterpret_cast<const program_wait*>(at_ + waits_);
    t.blocks = static_cast<std::int32_t>(blocks_.size());
    put(0, &t, sizeof t);
    put(first_step_, first.data(), first.size() * sizeof(std::int32_t));
    put(steps_, steps.data(), steps.size() * sizeof(program_step));
    put(waits_, waits.data(), waits.size() * sizeof(program_wait));
    for (std::size_t i = 0; i < list_.operations.size(); ++i) {
      const program_operation& operation = list_.operations[i];
      put(names_[i], shown(operation).c_str(), shown(operation).size() + 1);
      if (on_gpus && operation.pe == pe_ && operation.unit == unit_)
        put(closures_[i], operation.code.closure.get(), operation.code.bytes);
    }
    return all;
  }

 private:
  std::size_t reserve(std::size_t bytes) {
    const std::size_t start = size_;
    size_ = aligned(size_ + bytes);
    return start;
  }

  std::byte* at_;
  const program_plan& plan_;
  const operation_list& list_;
  const std::vector<std::vector<planned_step>>& blocks_;
  int pe_;
  int unit_;
  std::size_t n_steps_ = 0;
  std::size_t n_waits_ = 0;
  std::size_t size_ = 0;
  std::size_t first_step_ = 0;
  std::size_t steps_ = 0;
  std::size_t waits_ = 0;
  std::vector<std::size_t> names_;
  std::vector<std::size_t> closures_;
};

// How many blocks each program may have on a device, so that all of them fit: in all as many as there would be of the
// most demanding one alone.
std::vector<int> blocks_for(const machine& m, const std::vector<program_unit>& units) {
  int all = std::numeric_limits<int>::max();
  for (const program_unit& u : units) all = std::min(all, m.blocks_that_fit(u.make({}), u.options));
  if (m.kind() == machine_kind::host) all = std::min(all, blocks_of_virtual_program);
  std::vector<int> wanted;
  double sum = 0;
  for (const program_unit& u : units) {
    wanted.push_back(std::min(all, u.blocks_wanted));
    sum += wanted.back();
  }
  for (int& w : wanted)
    if (sum > all) w = std::max(1, static_cast<int>(static_cast<double>(w) * all / sum));
  return wanted;
}

}  // namespace

namespace {

// Of a block of a program in check mode: as many as its operations want, which is one if they want different numbers.
int threads_in_check(const std::vector<program_operation>& operations, int unit) {
  int threads = 0;
  for (const program_operation& i : operations) {
    const int wanted = works(i) && i.unit == unit ? i.code.threads_in_check : 0;
    if (wanted != 0) threads = threads == 0 || threads == wanted ? wanted : 1;
  }
  return threads;
}

}  // namespace

void do_program_on_host(const program_tables& tables, block& b) { program_kernel<>{tables}(b); }

std::vector<program_unit> assign_units(const machine& m, std::vector<program_operation>& operations) {
  const bool on_host = m.kind() == machine_kind::host;
  std::vector<program_unit> units;
  for (program_operation& i : operations) {
    if (!works(i)) continue;
    auto u = std::find_if(units.begin(), units.end(), [&](const program_unit& known) {
      return known.make == i.code.program && known.options.threads == i.threads;
    });
    if (u == units.end() && on_host && units.size() == most_units_of_virtual_device)
      u = units.begin() + static_cast<std::ptrdiff_t>(i.task % most_units_of_virtual_device);
    if (u == units.end()) {
      units.push_back({i.code.program, {.threads = i.threads}, 1, 0});
      u = units.end() - 1;
    }
    i.unit = static_cast<int>(u - units.begin());
    u->options.scratch_bytes = std::max(u->options.scratch_bytes, aligned(i.scratch_bytes));
    u->blocks_wanted = std::max(u->blocks_wanted, i.blocks);
  }
  for (program_unit& u : units) {
    u.operation_scratch = u.options.scratch_bytes;
    if (u.operation_scratch <= much_scratch) u.options.scratch_bytes += list_room;
  }
  return units;
}

void run_program(machine& m, operation_list list, const program_rounds& rounds, bool* begun) {
  const std::vector<program_unit> units = assign_units(m, list.operations);
  if (units.empty()) return;
  for (program_operation& i : list.operations) put_in_scope(i);
  const std::vector<program_edge> edges = order_operations(list.operations);
  const int most_alone = m.kind() == machine_kind::host ? most_alone_on_host : most_alone_on_gpu;
  std::vector<int> most = blocks_for(m, units);
  while (true) {
    try {
      return run_program(m, list, units, plan_program(list.operations, edges, m.size(), most, most_alone), rounds,
                         begun);
    } catch (const launch_error& e) {
      // Nothing has run. What fits with several programs only the machine knows.
      const int largest = *std::max_element(most.begin(), most.end());
      expect<task_error>(
          largest > 1, "stf: the ", units.size(),
          " kinds of kernels of the body do not fit on a device at once, as a persistent program needs: ", e.what(),
          "; or use stream_ctx or graph_ctx");
      for (int& blocks : most) blocks = std::max(1, std::min(blocks, largest - (largest + 3) / 4));
    }
  }
}

void run_program(machine& m, const operation_list& list, const std::vector<program_unit>& units,
                 const program_plan& plan, const program_rounds& rounds, bool* begun) {
  constexpr int most_devices = 64;
  expect<unsupported_error>(m.size() <= most_devices, "stf: a persistent program on ", m.size(), " devices; at most ",
                            most_devices, ", use stream_ctx");
  const auto counters = m.allocate<signal>(static_cast<index_t>(list.operations.size() + 1));
  program_tables t;
  t.counters = counters.data();
  t.go_on = counters.data() + static_cast<index_t>(list.operations.size());
  t.rounds = rounds.most;
  t.flag = rounds.flag;
  t.flag_bytes = static_cast<std::uint32_t>(rounds.flag_bytes);
  const bool on_gpus = m.kind() == machine_kind::cuda;
  std::vector<symmetric_array<std::byte>> tables;
  std::vector<program> programs;
  for (int u = 0; u < plan.units; ++u) {
    const int blocks = plan.blocks_of(u);
    if (blocks == 0) continue;
    std::size_t bytes = 0;
    std::size_t longest = 0;
    std::size_t steps = 0;
    std::size_t closure = 0;
    for (int pe = 0; pe < m.size(); ++pe) {
      const table_writer w(nullptr, plan, list, pe, u);
      bytes = std::max(bytes, w.bytes());
      longest = std::max(longest, w.longest_list());
      steps = std::max(steps, w.most_steps());
      closure = std::max(closure, w.closure_room());
    }
    const auto& table = tables.emplace_back(m.allocate<std::byte>(static_cast<index_t>(bytes)));
    for (int pe = 0; pe < m.size(); ++pe) {
      const auto written = table_writer(table.on(pe), plan, list, pe, u).write(on_gpus);
      m.copy(table.on(pe), written.data(), written.size());
    }
    const program_unit& unit = units[static_cast<std::size_t>(u)];
    t.table = {reinterpret_cast<program_table*>(table.on(0)), table.data().stride_bytes()};
    t.operation_scratch = static_cast<std::uint32_t>(unit.operation_scratch);
    const std::size_t room = unit.options.scratch_bytes - unit.operation_scratch;
    const bool carries = on_gpus && longest + steps * closure <= room;
    t.list_scratch = static_cast<std::uint32_t>(longest <= room ? longest : 0);
    t.closure_scratch = static_cast<std::uint32_t>(carries ? steps * closure : 0);
    t.closure_room = static_cast<std::uint32_t>(closure);
    program p;
    (void)p.roles.add("tasks", blocks);
    p.k = unit.make(t);
    // It may do any of the operations.
    p.k.accesses_seen = std::all_of(list.operations.begin(), list.operations.end(),
                                    [](const program_operation& i) { return !works(i) || i.code.accesses_seen; });
    p.k.threads_in_check = threads_in_check(list.operations, u);
    p.k.whole_warps = std::any_of(list.operations.begin(), list.operations.end(), [&](const program_operation& i) {
      return works(i) && i.unit == u && i.code.whole_warps;
    });
    p.options = unit.options;
    programs.push_back(std::move(p));
  }
  for (int pe = 0; pe < m.size(); ++pe)
    m.fill(counters.on(pe), 0, static_cast<std::size_t>(counters.size()) * sizeof(signal));
  for (const operation_list::range& z : list.zeros) m.fill(z.start, 0, z.bytes);
  try {
    if (begun != nullptr) *begun = true;
    m.run(programs);
  } catch (const launch_error&) {
    if (begun != nullptr) *begun = false;
    throw;
  }
}

}  // namespace starling::stf
