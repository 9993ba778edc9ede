#include "program_plan.hpp"

#include <algorithm>
#include <limits>

namespace starling::stf {
namespace {

// What one block of a launch costs a block that does several, one after the other, in blocks of what is divisible,
// whose loads are under way together.
constexpr int cost_of_block = 4;
// What an operation costs besides its work, in its blocks.
constexpr double cost_of_operation = 1;

// The blocks of one station as they fill up.
struct filling {
  std::vector<double> free_at;

  double start(int first, int count, double ready) const {
    for (int b = first; b < first + count; ++b) ready = std::max(ready, free_at[static_cast<std::size_t>(b)]);
    return ready;
  }
};

class planner {
 public:
  planner(const std::vector<program_operation>& operations, const std::vector<program_edge>& edges, int devices,
          const std::vector<int>& most_blocks, int most_alone)
      : operations_(operations), most_(most_blocks), into_(operations.size()), alone_(operations.size()) {
    plan_.units = static_cast<int>(most_blocks.size());
    for (const program_edge& e : edges) {
      into_[static_cast<std::size_t>(e.later)].push_back(e);
      if (!small(e.earlier, most_alone) || !small(e.later, most_alone)) continue;
      if (station_of(e.earlier) != station_of(e.later)) continue;
      alone_[static_cast<std::size_t>(e.earlier)] = alone_[static_cast<std::size_t>(e.later)] = true;
    }
    for (int device = 0; device < devices; ++device)
      for (const int most : most_blocks) filling_.push_back({std::vector<double>(static_cast<std::size_t>(most))});
    plan_.operations.resize(operations.size());
    plan_.blocks.resize(filling_.size());
    ended_.resize(operations.size());
  }

  program_plan plan() {
    for (std::size_t i = 0; i < operations_.size(); ++i) place(i);
    for (std::size_t i = 0; i < operations_.size(); ++i) add_steps(i);
    for (auto& station : plan_.blocks)
      for (auto& steps : station) drop_known(steps);
    for (std::size_t station = 0; station < plan_.blocks.size(); ++station)
      for (const auto& steps : plan_.blocks[station])
        for (const planned_step& s : steps)
          for (const planned_wait& w : s.waits)
            at(w.operation).tells |= std::uint64_t{1} << station / static_cast<std::size_t>(plan_.units);
    return std::move(plan_);
  }

 private:
  placed_operation& at(int operation) { return plan_.operations[static_cast<std::size_t>(operation)]; }
  std::size_t station_of(const program_operation& i) const {
    return static_cast<std::size_t>(i.pe * plan_.units + i.unit);
  }
  std::size_t station_of(int operation) const { return station_of(operations_[static_cast<std::size_t>(operation)]); }
  bool small(int operation, int most) const {
    const program_operation& i = operations_[static_cast<std::size_t>(operation)];
    return i.blocks <= (i.divisible ? most : most / cost_of_block);
  }

  void place(std::size_t i) {
    const program_operation& operation = operations_[i];
    placed_operation& p = plan_.operations[i];
    const int most = most_[static_cast<std::size_t>(operation.unit)];
    p.parts = alone_[i] ? 1 : std::clamp(operation.blocks, 1, most);
    const double work = cost_of_operation + static_cast<double>((operation.blocks + p.parts - 1) / p.parts);
    filling& station = filling_[station_of(operation)];
    double ready = 0;
    std::vector<int> candidates;
    for (const program_edge& e : into_[i]) {
      if (e.lag == 0) ready = std::max(ready, ended_[static_cast<std::size_t>(e.earlier)]);
      if (station_of(e.earlier) == station_of(operation) && e.earlier != e.later)
        candidates.push_back(at(e.earlier).first_block);
    }
    for (int first = 0; first + p.parts <= most; first += p.parts) candidates.push_back(first);
    double best = std::numeric_limits<double>::infinity();
    for (const int first : candidates) {
      if (first + p.parts > most) continue;
      const double start = station.start(first, p.parts, ready);
      if (start >= best) continue;
      best = start;
      p.first_block = first;
    }
    ended_[i] = best + work;
    for (int b = p.first_block; b < p.first_block + p.parts; ++b)
      station.free_at[static_cast<std::size_t>(b)] = ended_[i];
  }

  void add_steps(std::size_t i) {
    const program_operation& operation = operations_[i];
    const placed_operation& p = plan_.operations[i];
    auto& station = plan_.blocks[station_of(operation)];
    const auto needed = static_cast<std::size_t>(p.first_block + p.parts);
    if (station.size() < needed) station.resize(needed);
    for (int part = 0; part < p.parts; ++part) {
      const int block = p.first_block + part;
      planned_step s{static_cast<int>(i), part, {}};
      for (const program_edge& e : into_[i]) {
        const placed_operation& earlier = at(e.earlier);
        // What the block itself did alone is done.
        if (station_of(e.earlier) == station_of(operation) && earlier.parts == 1 && earlier.first_block == block)
          continue;
        s.waits.push_back({e.earlier, e.lag});
      }
      station[static_cast<std::size_t>(block)].push_back(std::move(s));
    }
  }

  // A block need not wait again for what it has waited for, in this round or in the one before.
  void drop_known(std::vector<planned_step>& steps) const {
    constexpr int never = 2;
    std::vector<int> known(operations_.size(), never);
    for (const planned_step& s : steps)
      for (const planned_wait& w : s.waits)
        if (w.lag == 0) known[static_cast<std::size_t>(w.operation)] = 1;
    for (planned_step& s : steps)
      std::erase_if(s.waits, [&](const planned_wait& w) {
        int& lag = known[static_cast<std::size_t>(w.operation)];
        if (lag <= w.lag) return true;
        lag = w.lag;
        return false;
      });
  }

  const std::vector<program_operation>& operations_;
  const std::vector<int>& most_;
  std::vector<std::vector<program_edge>> into_;
  std::vector<bool> alone_;  // one block does all of it
  std::vector<filling> filling_;
  std::vector<double> ended_;
  program_plan plan_;
};

}  // namespace

int program_plan::blocks_of(int unit) const {
  std::size_t most = 0;
  for (std::size_t station = static_cast<std::size_t>(unit); station < blocks.size();
       station += static_cast<std::size_t>(units))
    most = std::max(most, blocks[station].size());
  return static_cast<int>(most);
}

program_plan plan_program(const std::vector<program_operation>& operations, const std::vector<program_edge>& edges,
                          int devices, const std::vector<int>& most_blocks, int most_alone) {
  return planner(operations, edges, devices, most_blocks, most_alone).plan();
}

}  // namespace starling::stf
