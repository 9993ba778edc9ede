#include "sparse/block_plans.hpp"

#include <algorithm>

namespace starling::sparse {

void join(index_range& all, index_range one) {
  if (one.empty()) return;
  all = all.empty() ? one : index_range{std::min(all.begin, one.begin), std::max(all.end, one.end)};
}

namespace {

// The blocks that hold `items`, where block b holds those from plans[b].*first on to the next block's.
index_range holders(const std::vector<block_plan>& plans, index_t block_plan::* first, index_range items) {
  if (items.empty()) return {};
  const auto holder = [&](index_t item) {
    const auto after = std::upper_bound(plans.begin(), plans.end(), item,
                                        [&](index_t x, const block_plan& plan) { return x < plan.*first; });
    return after - plans.begin() - 1;
  };
  return {holder(items.begin), holder(items.end - 1) + 1};
}

// What a block reads of other PEs, from the first to the last receive slot.
index_range receive_slots_read(const rows_to_deal& pe, const block_plan& plan) {
  index_range all;
  for (index_t p = plan.first_part; p < plan.first_part + plan.parts; ++p)
    join(all, pe.parts[static_cast<std::size_t>(p)].receive_slots_read);
  return all;
}

// Who takes values of other PEs out of their receive slots: the first block that reads them, so that most others have
// nothing to do with it; but equal parts for all blocks when some would have too much, or somebody would wait for a
// block that takes nothing.
void share_receive_slots(const rows_to_deal& pe, std::vector<block_plan>& plans) {
  constexpr index_t most_receive_slots = 4096;
  const index_t halo = pe.own.halo();
  index_t end = 0;
  for (block_plan& plan : plans) {
    const index_range read = receive_slots_read(pe, plan);
    plan.first_receive_slot = end;
    plan.receive_slots = std::max(read.end - end, index_t{0});
    end = std::max(end, read.end);
  }
  const auto can_wait = [&](const block_plan& plan) {
    const index_range unpacking = holders(plans, &block_plan::first_receive_slot, receive_slots_read(pe, plan));
    const auto idle = [](const block_plan& one) { return one.receive_slots == 0; };
    return plan.receive_slots <= most_receive_slots &&
           std::none_of(plans.begin() + unpacking.begin, plans.begin() + unpacking.end, idle);
  };
  const bool by_reader = end == halo && std::all_of(plans.begin(), plans.end(), can_wait);
  const auto& senders = pe.senders;
  for (std::size_t b = 0; b < plans.size(); ++b) {
    block_plan& plan = plans[b];
    if (!by_reader) {
      const index_range mine = share(halo, static_cast<index_t>(plans.size()), static_cast<index_t>(b));
      plan.first_receive_slot = mine.begin;
      plan.receive_slots = mine.size();
    }
    if (plan.receive_slots == 0) continue;
    const std::int32_t first = senders[static_cast<std::size_t>(plan.first_receive_slot)];
    plan.sender =
        first == senders[static_cast<std::size_t>(plan.first_receive_slot + plan.receive_slots - 1)] ? first : any_pe;
  }
}

// Which blocks have what each block reads.
void find_peers(const rows_to_deal& pe, std::vector<block_plan>& plans) {
  for (block_plan& plan : plans) {
    index_range rows_read;
    for (index_t p = plan.first_part; p < plan.first_part + plan.parts; ++p)
      join(rows_read, pe.parts[static_cast<std::size_t>(p)].rows_read);
    const index_range peers = holders(plans, &block_plan::first_row, rows_read);
    plan.first_peer = static_cast<std::int32_t>(peers.begin);
    plan.peers = static_cast<std::int32_t>(peers.size());
    const index_range receive_slots = receive_slots_read(pe, plan);
    if (receive_slots.begin >= plan.first_receive_slot &&
        receive_slots.end <= plan.first_receive_slot + plan.receive_slots)
      continue;
    const index_range unpacking = holders(plans, &block_plan::first_receive_slot, receive_slots);
    plan.first_unpacking = static_cast<std::int32_t>(unpacking.begin);
    plan.unpacking = static_cast<std::int32_t>(unpacking.size());
    for (index_t b = unpacking.begin; b < unpacking.end; ++b) plans[static_cast<std::size_t>(b)].awaited = true;
  }
}

}  // namespace

std::vector<block_plan> plan_blocks(const rows_to_deal& pe, int blocks, index_t unit, index_t entry_bytes,
                                    index_t least_bytes) {
  const auto& parts = pe.parts;
  const rows_of_pe& own = pe.own;
  const auto n = static_cast<index_t>(parts.size());
  // Bytes that a row's share of the vectors moves beside its entries, and those that take as long as the way of a value
  // from another PE: blocks that wait for such values have less of other work.
  constexpr index_t row_bytes = 24;
  constexpr index_t receive_slot_bytes = 64;
  const auto row_at = [&](index_t p) { return p < n ? parts[static_cast<std::size_t>(p)].first_row : own.rows; };
  const auto may_begin = [&](index_t p) {
    return p == n || (row_at(p) % unit == 0 && parts[static_cast<std::size_t>(p)].piece <= 0);
  };
  std::vector<index_t> cost(static_cast<std::size_t>(n) + 1, 0);
  for (index_t p = 0; p < n; ++p) {
    const part_of_rows& part = parts[static_cast<std::size_t>(p)];
    const index_t rows = row_at(p + 1) - row_at(p);
    cost[static_cast<std::size_t>(p) + 1] = cost[static_cast<std::size_t>(p)] +
                                            std::max(part.entries * entry_bytes + rows * row_bytes, least_bytes) +
                                            std::min(part.receive_slots_read.size(), rows) * receive_slot_bytes;
  }
  std::vector<block_plan> plans(static_cast<std::size_t>(blocks));
  const auto& send_rows = pe.send_rows;
  index_t begin = 0;
  index_t long_rows = 0;
  for (int b = 0; b < blocks; ++b) {
    const index_t wanted = cost.back() / blocks * (b + 1) + cost.back() % blocks * (b + 1) / blocks;
    index_t end = b + 1 == blocks ? n : std::lower_bound(cost.begin() + begin, cost.end(), wanted) - cost.begin();
    end = std::min(end, n);
    // The nearest place where a block may end.
    index_t before = end;
    while (before > begin && !may_begin(before)) --before;
    while (!may_begin(end)) ++end;
    if (before > begin &&
        wanted - cost[static_cast<std::size_t>(before)] < cost[static_cast<std::size_t>(end)] - wanted)
      end = before;
    block_plan& plan = plans[static_cast<std::size_t>(b)];
    plan.first_row = row_at(begin);
    plan.rows = row_at(end) - row_at(begin);
    plan.first_part = begin;
    plan.parts = end - begin;
    plan.first_long_row = long_rows;
    for (index_t p = begin; p < end; ++p) plan.long_rows += parts[static_cast<std::size_t>(p)].piece == 0 ? 1 : 0;
    long_rows += plan.long_rows;
    const auto first = std::lower_bound(send_rows.begin(), send_rows.end(), plan.first_row);
    const auto last = std::lower_bound(send_rows.begin(), send_rows.end(), plan.first_row + plan.rows);
    plan.first_send = first - send_rows.begin();
    plan.sends = last - first;
    begin = end;
  }
  share_receive_slots(pe, plans);
  find_peers(pe, plans);
  return plans;
}

}  // namespace starling::sparse
