// What regions promise, relied on in every way that their comments allow: whole epochs read at once and written by the
// next, readers of parts that lag behind and give credit, chunks that only some PEs get, tiles that share chunks.
#include "starling/region/region.hpp"
#include "trial.hpp"

namespace {

constexpr st::index_t n = 80;
constexpr std::uint64_t epochs = 5;

int made(std::uint64_t epoch, st::index_t i) { return static_cast<int>(epoch) * 1000 + static_cast<int>(i); }

// Every element depends on scattered ones, and every epoch can be told from the others.
void whole_epochs(st::machine& m, const st::region_options& options, int blocks) {
  st::region<int> x(m, n, options);
  std::vector<int> start;
  for (st::index_t i = 0; i < n; ++i) start.push_back(made(0, i));
  x.load(start);
  const auto h = x.handle();
  const bool credits = options.credits;
  for (const std::uint64_t first : {std::uint64_t{0}, epochs})  // a second run goes on
    m.run(x.programs(
        blocks, STARLING_KERNEL(st::block & b) {
          trial::verdict v;
          for (std::uint64_t e = first + 1; e <= first + epochs; ++e) {
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
          const auto last = h.await(b, first + epochs);
          for (st::index_t i = 0; i < n; ++i) v.same(last(i), made(first + epochs, i));
          v.end(b);
        }));
}

// The host's copy: a block looks at each epoch as soon as its words say that it is there, as the host does; the host
// when the kernel is over.
void to_host(st::machine& m, const st::region_options& options) {
  st::region<int> x(m, n, options);
  x.load(std::vector<int>(n, 0));
  const auto h = x.handle();
  st::role_plan roles;
  const st::role writer = roles.add("writer", 2);
  roles.add("reader", 1);
  m.run(x.programs(
      roles, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        for (std::uint64_t e = 1; e <= epochs; ++e) {
          if (b.role() != writer) {
            for (int c = 0; c < h.state().chunks; ++c) b.wait(st::sym<st::signal>(h.state().host_arrived + c, 0), e);
            const int* there = st::region_words::on_host<int>(h.state(), h.pitch(), e);
            for (st::index_t i = 0; i < n; ++i) v.same(there[i], made(e, i));
            v.end(b);
            continue;
          }
          h.await(b, e - 1);
          h.each_tile(b, e, [&](st::tile t, st::tracked<int> next) {
            h.for_each(b, t, [&](st::index_t i) { next(i) = made(e, i); });
          });
        }
      }));
  for (const std::uint64_t e : {epochs - 1, epochs}) {
    if (x.host_epoch() != epochs) throw trial::wrong_result("the host lacks an epoch");
    for (st::index_t i = 0; i < n; ++i)
      if (x.on_host(e)[static_cast<std::size_t>(i)] != made(e, i)) throw trial::wrong_result("of the host's copy");
  }
}

// Readers of a part, as slow as they like.
void credited(st::machine& m, const st::region_options& options) {
  st::region<int> x(m, n, options);
  x.load(std::vector<int>(n, 0));
  const auto h = x.handle();
  st::role_plan roles;
  const st::role writer = roles.add("writer", 2);
  roles.add("reader", 2);
  m.run(x.programs(
      roles, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        if (b.role() != writer) h.give_credit(b, 0);
        for (std::uint64_t e = 1; e <= epochs; ++e) {
          if (b.role() == writer) {
            h.each_tile(b, e, [&](st::tile t, st::tracked<int> next) {
              h.for_each(b, t, [&](st::index_t i) { next(i) = made(e, i); });
            });
            continue;
          }
          const st::index_range part{(b.pe() + 1) % b.n_pes() * n / 8, n / 2};
          const auto seen = h.await(b, e, part);
          b.for_each(part, [&](st::index_t i) { v.same(seen(i), made(e, i)); });
          h.give_credit(b, e);
          v.end(b);
        }
      }));
}

std::vector<trial::trial_case> cases() {
  std::vector<trial::trial_case> all;
  for (const st::region_agent agent : st::region_agents)
    for (const bool credits : {false, true})
      for (const int agent_blocks : {1, 2}) {
        const st::region_options options{.agent = agent,
                                         .chunk_bytes = 128,
                                         .tiles = st::region_mapping::stride(3, 7),
                                         .agent_blocks = agent_blocks,
                                         .credits = credits};
        const std::string what =
            st::message(st::name(agent), credits ? ", credits" : "", ", ", agent_blocks, " agent blocks");
        all.push_back({"whole epochs, " + what, 3, [=](st::machine& m) { whole_epochs(m, options, 2); }});
        st::region_options checked = options;
        checked.verify = true;
        all.push_back({"verified, " + what, 2, [=](st::machine& m) { whole_epochs(m, checked, 2); }});
        if (!credits) {
          st::region_options o = options;
          o.subscribers = st::everyone.and_host();
          o.buffers = epochs + 1;  // writers do not wait for who reads the host's copy
          for (const int pes : {1, 2})
            all.push_back(
                {st::message("to the host from ", pes, " PEs, ", what), pes, [=](st::machine& m) { to_host(m, o); }});
          continue;
        }
        for (const int buffers : {1, 2}) {
          st::region_options o = options;
          o.buffers = buffers;
          all.push_back({st::message("readers of parts, ", buffers, " buffers, ", what), 2,
                         [=](st::machine& m) { credited(m, o); }});
        }
        st::region_options next_only = options;
        next_only.subscribers =
            st::subscribers::only([](int owner, st::index_range) { return std::uint64_t{1} << (owner + 1) % 2; });
        all.push_back({"some subscribe, " + what, 2, [=](st::machine& m) { whole_epochs(m, next_only, 1); }});
      }
  return all;
}

}  // namespace

int main(int argc, char** argv) { return trial::all(argc, argv, cases()); }
