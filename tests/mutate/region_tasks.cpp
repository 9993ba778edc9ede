// What regions promise in tasks and streams: an update waits for who reads the region and is waited for, is over when
// all PEs have all of it, goes on with the next epoch, and leaves the region fit for programs.
#include "starling/region/tasks.hpp"
#include "trial.hpp"

namespace stf = st::stf;

namespace {

constexpr st::index_t n = 80;
constexpr std::uint64_t epochs = 3;

int made(std::uint64_t epoch, st::index_t i) { return static_cast<int>(epoch) * 1000 + static_cast<int>(i); }

void load(st::region<int>& x) {
  std::vector<int> start;
  for (st::index_t i = 0; i < n; ++i) start.push_back(made(0, i));
  x.load(start);
}

// A program that goes on with the next epochs; readers of the last one everywhere.
void go_on(st::machine& m, st::region<int>& x) {
  const auto h = x.handle();
  const std::uint64_t first = x.epoch() + 1;
  const bool credits = h.state().credits;
  m.run(x.programs(
      2, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        for (std::uint64_t e = first; e < first + 3; ++e) {
          const auto old = h.await(b, e - 1);
          h.each_tile(b, e, [&](st::tile t, st::tracked<int> next) {
            h.for_each(b, t, [&](st::index_t i) {
              const st::index_t from = (i * 37 + 11) % n;
              v.same(old(from), made(e - 1, from));
              next(i) = made(e, i);
            });
          });
          if (credits) h.give_credit(b, e - 1);
          v.end(b);
        }
        (void)h.await(b, first + 2);
      }));
}

void update(stf::context& ctx, st::region<int>& x) {
  ctx.parallel_for(x.partition(), stf::exec_place::all_devices(), x.shape(), x.update())
          ->*STARLING_KERNEL(st::index_t i, st::region_step<int> v) {
    const st::index_t from = (i * 37 + 11) % n;
    v.next(i) = v.old(from) == made(v.epoch - 1, from) ? made(v.epoch, i) : -1;
  };
}

// By six groups on each PE of two, which blocks take in turn, of 32 threads.
constexpr auto hierarchy = stf::par(12, stf::con<32>());
void launch(stf::context& ctx, st::region<int>& x) {
  ctx.launch(hierarchy, stf::exec_place::all_devices(), x.update())
          ->*STARLING_KERNEL(stf::thread_hierarchy<decltype(hierarchy)> th, st::region_tiles<int> v) {
    (void)th;
    v.each_tile([&](const st::tile& t, const st::tracked<int>& next) {
      v.for_each(t, [&](st::index_t i) {
        const st::index_t from = (i * 37 + 11) % n;
        next(i) = v.old(from) == made(v.epoch - 1, from) ? made(v.epoch, i) : -1;
      });
    });
  };
}

void check_last(const st::region<int>& x, std::uint64_t epoch) {
  if (x.epoch() != epoch) throw trial::wrong_result(st::message("epoch ", x.epoch()));
  std::vector<int> last(n);
  for (int pe = 0; pe < 2; ++pe) {
    x.read(pe, epoch, last);
    for (st::index_t i = 0; i < n; ++i)
      if (last[static_cast<std::size_t>(i)] != made(epoch, i)) throw trial::wrong_result("a wrong value");
  }
}

using update_function = void(stf::context&, st::region<int>&);

// Each round is an update, and if `reads` a loop that sees each epoch.
void in_tasks(st::machine& m, stf::backend_kind backend, const st::region_options& options, bool reads,
              update_function* updates = update) {
  st::region<int> x(m, n, options);
  load(x);
  std::vector<int> seen(n, 0);
  {
    stf::context ctx(m, {.backend = backend});
    auto epoch = ctx.logical_data(seen);
    const auto round = [&] {
      updates(ctx, x);
      if (!reads) return;
      ctx.parallel_for(stf::exec_place::device(m.size() - 1), x.shape(), x.read(), epoch.rw())
              ->*STARLING_KERNEL(st::index_t i, st::region_view<int> v, stf::slice<int> e) {
        const st::index_t from = (i * 37 + 11) % n;
        e(i) = v(from) == made(static_cast<std::uint64_t>(e(i)) + 1, from) ? e(i) + 1 : -1000;
      };
    };
    round();
    ctx.repeat(epochs, round);
    ctx.finalize();
  }
  for (const int e : seen)
    if (reads && e != static_cast<int>(epochs) + 1) throw trial::wrong_result(st::message("read until epoch ", e));
  check_last(x, epochs + 1);
  go_on(m, x);
  stf::context after(m, {.backend = backend});
  updates(after, x);
  after.finalize();
  check_last(x, epochs + 5);
}

void in_streams(st::machine& m, const st::region_options& options) {
  st::region<int> x(m, n, options);
  load(x);
  const auto h = x.handle();
  std::vector<st::stream> streams;
  std::vector<st::event> ends;
  for (int pe = 0; pe < m.size(); ++pe) {
    streams.push_back(m.new_stream(pe));
    ends.push_back(m.new_event(pe, st::event_use::ordering));
  }
  for (std::uint64_t k = 0; k < epochs; ++k) {
    for (std::size_t pe = 0; pe < streams.size(); ++pe) streams[pe].record(ends[pe]);
    for (st::stream& s : streams) {
      for (const st::event& e : ends) s.wait(e);
      x.launch(
          s, 2, STARLING_KERNEL(st::block & b) {
            trial::verdict v;
            const std::uint64_t e = h.newest(b) + 1;
            const auto old = h.await(b, e - 1);
            h.each_tile(b, e, [&](st::tile t, st::tracked<int> next) {
              h.for_each(b, t, [&](st::index_t i) {
                const st::index_t from = (i * 37 + 11) % n;
                v.same(old(from), made(e - 1, from));
                next(i) = made(e, i);
              });
            });
            v.end(b);
          });
    }
  }
  for (st::stream& s : streams) s.synchronize();
  go_on(m, x);
}

std::vector<trial::trial_case> cases() {
  std::vector<trial::trial_case> all;
  for (const st::region_agent agent :
       {st::region_agent::inline_stores, st::region_agent::polling, st::region_agent::copy_engine})
    for (const int agent_blocks : {1, 2}) {
      if (agent == st::region_agent::inline_stores && agent_blocks > 1) continue;
      st::region_options options{
          .agent = agent, .chunk_bytes = 128, .tiles = st::region_mapping::stride(3, 7), .agent_blocks = agent_blocks};
      const std::string what = st::message(st::name(agent), ", ", agent_blocks, " agent blocks");
      all.push_back({"streams, " + what, 2, [=](st::machine& m) { in_streams(m, options); }});
      for (const bool reads : {false, true})
        for (const auto backend : {stf::backend_kind::stream, stf::backend_kind::persistent}) {
          if (agent == st::region_agent::copy_engine && backend == stf::backend_kind::persistent) continue;
          all.push_back({(backend == stf::backend_kind::stream ? "tasks, " : "loops on devices, ") + what, 3,
                         [=](st::machine& m) { in_tasks(m, backend, options, reads); }});
        }
      st::region_options many = options;
      // More tiles than groups; and one with more elements than threads.
      many.tiles = agent_blocks == 1 ? st::region_mapping::stride(7, 2) : st::region_mapping::one_to_one(n);
      all.push_back({"launches, " + what, 2,
                     [=](st::machine& m) { in_tasks(m, stf::backend_kind::stream, many, true, launch); }});
      options.credits = true;
      all.push_back({"tasks, credits, " + what, 2,
                     [=](st::machine& m) { in_tasks(m, stf::backend_kind::stream, options, true); }});
    }
  return all;
}

}  // namespace

int main(int argc, char** argv) { return trial::all(argc, argv, cases()); }
