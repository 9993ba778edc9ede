#include "program_run.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "starling/base/error.hpp"
#include "starling/stf/task_error.hpp"

namespace starling::stf {
namespace {

// Threads of a block of a loop, unless launches want others.
constexpr int usual_threads = 256;
// A virtual device has few blocks, and each is a thread.
constexpr int most_blocks_of_virtual_device = 4;
// Shared memory that units other than the interpreter's may have laid out otherwise.
constexpr std::size_t spare_scratch = 2048;

constexpr std::size_t alignment = 256;
std::size_t aligned(std::size_t n) { return (n + alignment - 1) / alignment * alignment; }

bool works(const noted_item& i) { return i.code.on_host != nullptr; }

// One size of blocks for all items.
int threads_of(const item_list& list) {
  const noted_item* decides = nullptr;
  for (const noted_item& i : list.items) {
    if (!works(i) || i.code.any_threads) continue;
    if (decides == nullptr) decides = &i;
    expect<task_error>(i.threads == decides->threads, "stf: ", i.name, " has blocks of ", i.threads, " threads and ",
                       decides->name, " of ", decides->threads,
                       ", and a persistent program has blocks of one size; give both the same widths, or use "
                       "stream_ctx or graph_ctx");
  }
  return decides != nullptr ? decides->threads : usual_threads;
}

// The interpreter that has registers for all items, and what its blocks need.
struct chosen_interpreter {
  kernel (*make)(const program_tables&) = nullptr;
  std::size_t item_scratch = 0;
  launch_options options;
};

chosen_interpreter choose_interpreter(machine& m, const item_list& list) {
  chosen_interpreter c;
  c.options.threads = threads_of(list);
  int most = -1;
  const void* unit = nullptr;
  const noted_item* scratch = nullptr;
  const noted_item* other = nullptr;
  for (const noted_item& i : list.items) {
    if (!works(i)) continue;
    const kernel k = i.code.interpreter({});
    const int registers = m.registers_of(k) * 2 + (i.code.plain ? 0 : 1);
    if (registers > most) c.make = i.code.interpreter;
    most = std::max(most, registers);
    c.item_scratch = std::max(c.item_scratch, aligned(i.scratch_bytes));
    if (i.scratch_bytes > 0) scratch = &i;
    if (i.code.plain) continue;
    if (unit != nullptr && k.on_gpu != unit) other = &i;
    unit = k.on_gpu;
  }
  expect<task_error>(scratch == nullptr || other == nullptr || m.kind() == machine_kind::host,
                     "stf: ", scratch != nullptr ? scratch->name : "", " uses scratch memory, and ",
                     other != nullptr ? other->name : "",
                     " comes from another source file, so that one persistent program cannot hold both; put their "
                     "bodies into one file, or use stream_ctx or graph_ctx");
  c.options.scratch_bytes = c.item_scratch;
  if (m.kind() == machine_kind::cuda) c.options.scratch_bytes += spare_scratch;
  return c;
}

// What one device gets: all of it in one piece of memory.
class table_writer {
 public:
  table_writer(std::byte* at, const program_plan& plan, const item_list& list, int pe)
      : at_(at), plan_(plan), list_(list), pe_(pe) {
    const auto& blocks = plan.blocks[static_cast<std::size_t>(pe)];
    for (const auto& steps : blocks) {
      n_steps_ += steps.size();
      for (const planned_step& s : steps) n_waits_ += s.waits.size();
    }
    size_ = aligned(sizeof(program_table));
    first_step_ = reserve((blocks.size() + 1) * sizeof(std::int32_t));
    steps_ = reserve(n_steps_ * sizeof(program_step));
    waits_ = reserve(n_waits_ * sizeof(program_wait));
    for (const noted_item& i : list.items) {
      names_.push_back(reserve(i.name.size() + 1));
      closures_.push_back(i.pe == pe ? reserve(i.code.bytes) : 0);
    }
  }
  std::size_t bytes() const { return size_; }

  // Virtual devices call the closures where the host has them.
  std::vector<std::byte> write(machine& m, item_functions& functions) const {
    const bool on_gpus = m.kind() == machine_kind::cuda;
    std::vector<std::byte> all(size_);
    const auto put = [&](std::size_t where, const void* what, std::size_t bytes) {
      if (bytes > 0) std::memcpy(all.data() + where, what, bytes);
    };
    const auto& blocks = plan_.blocks[static_cast<std::size_t>(pe_)];
    std::vector<std::int32_t> first;
    std::vector<program_step> steps;
    std::vector<program_wait> waits;
    for (const auto& of_block : blocks) {
      first.push_back(static_cast<std::int32_t>(steps.size()));
      for (const planned_step& planned : of_block) {
        const auto which = static_cast<std::size_t>(planned.item);
        const noted_item& item = list_.items[which];
        program_step s;
        if (works(item)) {
          s.run = functions.find(m, pe_, item.code);
          s.closure = on_gpus ? at_ + closures_[which] : item.code.closure.get();
        }
        s.first = planned.part;
        s.stride = plan_.items[which].parts;
        s.blocks = item.blocks;
        s.counter = planned.item;
        s.tells = plan_.items[which].tells;
        s.waits = static_cast<std::int32_t>(waits.size());
        for (const planned_wait& w : planned.waits) {
          const auto earlier = static_cast<std::size_t>(w.item);
          program_wait p;
          p.counter = w.item;
          p.lag = w.lag;
          p.parts = static_cast<std::uint64_t>(plan_.items[earlier].parts);
          p.from = list_.items[earlier].pe;
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
    t.blocks = static_cast<std::int32_t>(blocks.size());
    put(0, &t, sizeof t);
    put(first_step_, first.data(), first.size() * sizeof(std::int32_t));
    put(steps_, steps.data(), steps.size() * sizeof(program_step));
    put(waits_, waits.data(), waits.size() * sizeof(program_wait));
    for (std::size_t i = 0; i < list_.items.size(); ++i) {
      const noted_item& item = list_.items[i];
      put(names_[i], item.name.c_str(), item.name.size() + 1);
      if (item.pe == pe_ && on_gpus) put(closures_[i], item.code.closure.get(), item.code.bytes);
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
  const item_list& list_;
  int pe_;
  std::size_t n_steps_ = 0;
  std::size_t n_waits_ = 0;
  std::size_t size_ = 0;
  std::size_t first_step_ = 0;
  std::size_t steps_ = 0;
  std::size_t waits_ = 0;
  std::vector<std::size_t> names_;
  std::vector<std::size_t> closures_;
};

}  // namespace

item_function item_functions::find(machine& m, int pe, const item_code& code) {
  if (m.kind() == machine_kind::host) return code.on_host;
  const auto key = std::pair(reinterpret_cast<const void*>(code.finder), pe);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const local_memory there = m.allocate_on(pe, sizeof(item_function));
  stream s = m.new_stream(pe);
  s.launch_kernel(1, code.finder(reinterpret_cast<item_function*>(there.data())), {.threads = 32});
  s.synchronize();
  item_function found = nullptr;
  m.copy(&found, there.data(), sizeof found);
  known_[key] = found;
  return found;
}

void run_program(machine& m, const item_list& list, const program_rounds& rounds, item_functions& functions) {
  if (list.items.empty()) return;
  const chosen_interpreter c = choose_interpreter(m, list);
  int most = 1;
  int grain = 1;
  if (c.make != nullptr) {
    const int fit = m.blocks_that_fit(c.make({}), c.options);
    expect<task_error>(fit >= 1, "stf: no block of a persistent program with ", c.options.threads, " threads and ",
                       c.options.scratch_bytes,
                       " bytes of scratch memory fits on the device; use smaller widths or less mem, or stream_ctx");
    most = m.kind() == machine_kind::host ? std::min(fit, most_blocks_of_virtual_device) : fit;
    grain = m.kind() == machine_kind::host ? 1 : 4;
  }
  run_program(m, list, plan_program(list.items, order_items(list.items), m.size(), most, grain), rounds, functions);
}

void run_program(machine& m, const item_list& list, const program_plan& plan, const program_rounds& rounds,
                 item_functions& functions) {
  constexpr int most_devices = 64;
  expect<unsupported_error>(m.size() <= most_devices, "stf: a persistent program on ", m.size(), " devices; at most ",
                            most_devices, ", use stream_ctx");
  const chosen_interpreter c = choose_interpreter(m, list);
  if (c.make == nullptr) return;
  std::size_t bytes = 1;
  for (int pe = 0; pe < m.size(); ++pe) bytes = std::max(bytes, table_writer(nullptr, plan, list, pe).bytes());
  const auto table = m.allocate<std::byte>(static_cast<index_t>(bytes));
  const auto counters = m.allocate<signal>(static_cast<index_t>(list.items.size() + 1));
  for (int pe = 0; pe < m.size(); ++pe) {
    const std::vector<std::byte> written = table_writer(table.on(pe), plan, list, pe).write(m, functions);
    m.copy(table.on(pe), written.data(), written.size());
    m.fill(counters.on(pe), 0, static_cast<std::size_t>(counters.size()) * sizeof(signal));
  }
  for (const item_list::range& z : list.zeros) m.fill(z.start, 0, z.bytes);
  program_tables t;
  t.table = {reinterpret_cast<program_table*>(table.data().on(0)), table.data().stride_bytes()};
  t.counters = counters.data();
  t.go_on = counters.data() + static_cast<index_t>(list.items.size());
  t.rounds = rounds.most;
  t.flag = rounds.flag;
  t.flag_bytes = static_cast<std::uint32_t>(rounds.flag_bytes);
  t.item_scratch = static_cast<std::uint32_t>(c.item_scratch);
  program p;
  p.roles.add("tasks", plan.blocks_per_device());
  p.k = c.make(t);
  p.options = c.options;
  m.run(std::vector<program>{std::move(p)});
}

}  // namespace starling::stf
