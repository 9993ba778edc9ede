#include "comm/exchange.hpp"
#include "comm/stopwatch.hpp"
#include "starling/base/error.hpp"

namespace starling::comm {
namespace {

constexpr bool by_bulk(way w) { return w == way::bulk || w == way::channel; }

constexpr protocol protocol_of(way w) {
  return w == way::packets ? protocol::packets : w == way::channel ? protocol::automatic : protocol::stores;
}

// Messages from `from` to `to`, by blocks in pairs; on one PE the second half of its blocks receives. Lane i carries
// block i's messages, lane blocks + i the answers to them. An answer is the credit for the next message.
template <way How>
struct exchange_kernel {
  channel<double> messages;
  sym<double> memory;  // [2 * blocks][n] what is sent and what is fetched
  exchange_plan p;
  index_t n;  // elements of a block's share
  lap_writer laps;

  STARLING_HD int first_receiver() const { return p.from == p.to ? p.blocks : 0; }

  STARLING_HD void operator()(block& b) const {
    const int in_half = b.index() % p.blocks;
    const bool sends = b.pe() == p.from && b.index() < p.blocks;
    const bool receives = b.pe() == p.to && b.index() >= first_receiver();
    if constexpr (by_bulk(How)) {
      bulk_buffer via = b.bulk_scratch();
      repeat(b, &via, in_half, sends, receives);
    } else {
      repeat(b, nullptr, in_half, sends, receives);
    }
  }

  STARLING_HD void repeat(block& b, bulk_buffer* via, int lane, bool sends, bool receives) const {
    std::uint64_t number = 0;
    for (int r = -1; r < p.repetitions; ++r) {
      b.sync_pe();  // the blocks of a side begin together
      const index_t times = r < 0 ? p.iterations / 8 + 1 : p.iterations;
      if constexpr (How == way::get) {
        if (receives) fetch(b, lane, r, times);
      } else {
        if (sends) send_all(b, via, lane, r, times, number);
        if (receives) receive_all(b, via, lane, times, number);
      }
      number += static_cast<std::uint64_t>(times);
    }
  }

  STARLING_HD void fetch(block& b, int lane, int r, index_t times) const {
    laps.begin(b, lane, r);
    for (index_t t = 0; t < times; ++t) b.get(memory.on(b.pe()) + (p.blocks + lane) * n, memory + lane * n, n, p.from);
    laps.end(b, lane, r);
  }

  STARLING_HD void send_all(block& b, bulk_buffer* via, int lane, int r, index_t times, std::uint64_t number) const {
    const channel<double> out = messages.lane(lane);
    const channel<double> back = messages.lane(p.blocks + lane);
    laps.begin(b, lane, r);
    for (index_t t = 0; t < times; ++t) {
      ++number;
      if (!p.answered) b.await_credit(out, number, p.to);
      transfer(b, via, out, number, p.to);
      if (p.answered) take(b, back, number, p.to);
    }
    if (!p.answered) b.await_credit(out, number + static_cast<std::uint64_t>(out.slots()), p.to);
    laps.end(b, lane, r);
  }

  STARLING_HD void receive_all(block& b, bulk_buffer* via, int lane, index_t times, std::uint64_t number) const {
    const channel<double> in = messages.lane(lane);
    const channel<double> back = messages.lane(p.blocks + lane);
    for (index_t t = 0; t < times; ++t) {
      ++number;
      take(b, in, number, p.from);
      if (p.answered)
        transfer(b, via, back, number, p.from);
      else
        b.give_credit(in, number, p.from);
    }
  }

  STARLING_HD void transfer(block& b, [[maybe_unused]] bulk_buffer* via, const channel<double>& c, std::uint64_t number,
                            int pe) const {
    const double* source = memory.on(b.pe()) + b.index() * n;
    if constexpr (How == way::scattered) {
      scatter(b, c, source, number, pe);
    } else if constexpr (How == way::bulk) {
      b.put_signal(*via, c.data_of(number), source, n, c.arrived_of(number), number, pe);
    } else if constexpr (How == way::channel) {
      b.send(*via, c, source, n, number, pe);
    } else {
      b.send(c, source, n, number, pe);
    }
  }

  // Every word of 4 bytes by a store of its own; those of a warp lie far apart.
  STARLING_HD void scatter(const block& b, const channel<double>& c, const double* source, std::uint64_t number,
                           int pe) const {
    constexpr index_t apart = 32;
    const sym<double> data = c.data_of(number);
    const sym<std::uint32_t> to(reinterpret_cast<std::uint32_t*>(data.on(0)), data.stride_bytes());
    const auto* words = reinterpret_cast<const std::uint32_t*>(source);
    const index_t count = 2 * n;
    const index_t rows = count / apart;
    const thread self = b.thread();
    b.for_each(count, [&](index_t i) {
      const index_t place = i < rows * apart ? i % apart * rows + i / apart : i;
      self.p(to + place, words[i], pe);
    });
    b.fence();
    b.signal_set(c.arrived_of(number), number, pe);
  }

  STARLING_HD void take(const block& b, const channel<double>& c, std::uint64_t number, int from) const {
    if constexpr (How == way::scattered)
      b.wait(c.arrived_of(number), number, from);
    else
      (void)b.receive(c, n, number, from);
  }
};

template <way How>
std::vector<double> exchange_by(machine& m, const exchange_plan& p) {
  const index_t n = ceil_div(p.bytes / 8, p.blocks);
  const auto messages = m.allocate_channel<double>(n, {.slots = 2, .lanes = 2 * p.blocks, .how = protocol_of(How)});
  const auto memory = m.allocate<double>(2 * p.blocks * n);
  for (int pe = 0; pe < m.size(); ++pe)
    if (m.is_local(pe)) m.fill(memory.on(pe), 0x11, static_cast<std::size_t>(memory.size()) * 8);
  const stopwatch watch(m, p.blocks, p.repetitions);
  const exchange_kernel<How> k{messages.handle(), memory.data(), p, n, watch.writer()};
  m.run(p.from == p.to ? 2 * p.blocks : p.blocks, k,
        {.threads = p.threads, .scratch_bytes = by_bulk(How) ? bulk_scratch_bytes : 0});
  const double one_ways = How != way::get && p.answered ? 2 : 1;
  return watch.us(How == way::get ? p.to : p.from, one_ways * static_cast<double>(p.iterations));
}

}  // namespace

std::vector<double> exchange(machine& m, const exchange_plan& p) {
  switch (p.how) {
    case way::packets:
      return exchange_by<way::packets>(m, p);
    case way::stores:
      return exchange_by<way::stores>(m, p);
    case way::bulk:
      return exchange_by<way::bulk>(m, p);
    case way::channel:
      return exchange_by<way::channel>(m, p);
    case way::get:
      return exchange_by<way::get>(m, p);
    case way::scattered:
      return exchange_by<way::scattered>(m, p);
    default:
      throw argument_error(message("bench: kernels do not send by ", name(p.how), "; the host does"));
  }
}

}  // namespace starling::comm
