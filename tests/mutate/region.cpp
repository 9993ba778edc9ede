// What regions promise, relied on in every way that their comments allow: whole epochs read at once and written by the
// next, readers of parts that lag behind and give credit, chunks that only some PEs get, tiles that share chunks.
#include "starling/region/region.hpp"
#include "trial.hpp"

namespace {

constexpr st::index_t n = 80;
constexpr std::uint64_t epochs = 5;

int made(std::uint64_t epoch, st::index_t i) { return static_cast<int>(epoch) * 1000 + static_cast<int>(i); }

// Every element depends on scattered ones, and every epoch can be told from the others. For each mapping a role.
void whole_epochs(st::machine& m, const st::region_options& options, int blocks) {
  st::region<int> x(m, n, options);
  std::vector<int> start;
  for (st::index_t i = 0; i < n; ++i) start.push_back(made(0, i));
  x.load(start);
  const auto h = x.handle();
  const bool credits = options.credits;
  st::role_plan roles;
  for (std::size_t k = 0; k < options.tiles.all().size(); ++k) roles.add(st::message("mapping ", k), blocks);
  for (const std::uint64_t first : {std::uint64_t{0}, epochs})  // a second run goes on
    m.run(x.programs(
        roles, st::with_own_warp{STARLING_KERNEL(st::block & b) {
          trial::verdict v;
          for (std::uint64_t e = first + 1; e <= first + epochs; ++e) {
      const auto old = h.await(b, e - 1);
      h.each_tile(b, e, b.index() / b.count(), [&](st::tile t, st::tracked<int> next) {
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
}
}  // namespace
));
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
      roles, st::with_own_warp{STARLING_KERNEL(st::block & b) {
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
      roles, st::with_own_warp{STARLING_KERNEL(st::block & b) {
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
}
}));
}

// The last epoch up to `epoch` in which the element changed; every other chunk of 32 rests now and then, the last one
// but for its first tile of 8.
std::uint64_t changed_in(std::uint64_t epoch, st::index_t i) {
  return i / 32 % 2 == 0 || i / 8 == 12 || epoch <= 1 ? epoch : epoch < 6 ? std::uint64_t{1} : std::uint64_t{6};
}
bool rests(std::uint64_t epoch, st::index_t i) {
  return epoch >= 2 && changed_in(epoch, i) == changed_in(epoch - 2, i);
}

// Tiles are left unchanged, and readers see so by their chunks.
void resting(st::machine& m, const st::region_options& options, int blocks) {
  constexpr st::index_t size = 128;
  st::region<int> x(m, size, options);
  std::vector<int> start;
  for (st::index_t i = 0; i < size; ++i) start.push_back(made(0, i));
  x.load(start);
  const auto h = x.handle();
  const bool credits = options.credits;
  const bool leaves_out = options.agent != st::region_agent::copy_engine;  // which sends all the same
  m.run(x.programs(
      blocks, st::with_own_warp{STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        for (std::uint64_t e = 1; e <= 2 * epochs; ++e) {
    const auto old = h.await(b, e - 1);
    for (st::index_t i = 0; i < size; ++i) v.same(old(i), made(changed_in(e - 1, i), i));
    for (st::index_t c = 0; c < size / 32 && leaves_out; ++c)
      v.same(old.stored(static_cast<int>(c)), !rests(e - 1, 32 * c));
    h.each_tile(b, e, [&](const st::tile& t, const st::tracked<int>& next) {
      if (rests(e, t.ranges[0].begin)) return t.unchanged();
      h.for_each(b, t, [&](st::index_t i) { next(i) = made(changed_in(e, i), i); });
    });
    if (credits) h.give_credit(b, e - 1);
    v.end(b);
        }
}
}));
}

// The first halves of pieces of 10 elements, and the others.
st::region_mapping halves(int which) {
  return st::region_mapping::by([=](int, st::index_range part) {
    st::region_mapping::tiles all;
    for (st::index_t begin = part.begin + 5 * which; begin < part.end; begin += 10)
      all.push_back({{begin, begin + 5 < part.end ? begin + 5 : part.end}});
    return all;
  });
}

// Two roles with a mapping each tell their neighbours of what they have flushed, while chunks wait for the other role.
void flushing(st::machine& m, const st::region_options& options, int blocks) {
  constexpr st::index_t size = 64;
  st::region<int> x(m, size, options);
  std::vector<int> start;
  for (st::index_t i = 0; i < size; ++i) start.push_back(made(0, i));
  x.load(start);
  const auto h = x.handle();
  const auto told = m.allocate<st::signal>(2 * blocks);
  const auto word = told.data();
  st::role_plan roles;
  for (int k = 0; k < 2; ++k) roles.add(st::message("mapping ", k), blocks);
  m.run(x.programs(
      roles, st::with_own_warp{STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int right = (b.pe() + 1) % b.n_pes();
        const int left = (b.pe() + b.n_pes() - 1) % b.n_pes();
        const int k = b.index() / b.count();
        for (std::uint64_t e = 1; e <= epochs; ++e) {
    const auto old = h.await(b, e - 1);
    for (st::index_t i = 0; i < size; ++i) v.same(old(i), made(e - 1, i));
    std::uint64_t tiles = 0;
    h.each_tile(b, e, k, [&](const st::tile& t, const st::tracked<int>& next) {
      h.for_each(b, t, [&](st::index_t i) { next(i) = made(e, i); });
      if (++tiles == 1) h.flush(b);  // nothing of this tile yet
    });
    h.signal_set(b, word + b.index(), e, right);
    b.wait(word + b.index(), e, left);
    const st::index_range all{h.state().bounds.on(b.pe())[left], h.state().bounds.on(b.pe())[left + 1]};
    const auto early = h.flushed(b, e, all);
    for (st::index_t i = all.begin; i < all.end; ++i)
      if ((i - all.begin) / 5 % 2 == k && (i - all.begin) / 10 % b.count() == b.rank()) v.same(early(i), made(e, i));
    v.end(b);
        }
        const auto last = h.await(b, epochs);
        for (st::index_t i = 0; i < size; ++i) v.same(last(i), made(epochs, i));
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
        if (!credits) {
          st::region_options flushed = options;
          flushed.tiles = {halves(0), halves(1)};
          flushed.flushes = true;
          if (agent == st::region_agent::inline_stores || agent == st::region_agent::polling)
            all.push_back({"flushes, " + what, 2, [=](st::machine& m) { flushing(m, flushed, 2); }});
          st::region_options two = options;
          two.tiles = {halves(0), halves(1)};
          all.push_back({"two mappings, " + what, 4, [=](st::machine& m) { whole_epochs(m, two, 1); }});
        }
        if (agent == st::region_agent::own_warp) {
          st::region_options many = options;  // more than a block hands to its warp at a time
          many.tiles = st::region_mapping::one_to_one(1);
          all.push_back({"many tiles, " + what, 2, [=](st::machine& m) { whole_epochs(m, many, 1); }});
        }
        st::region_options in_chunks = options;
        in_chunks.tiles = st::region_mapping::one_to_one(8);
        all.push_back({"tiles rest, " + what, 2, [=](st::machine& m) { resting(m, in_chunks, 3); }});
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
