// What a trace shows of network cards: each entry that a block posts, and when its completion was seen.
#include <map>
#include <random>

#include "starling/device/network/completion.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"
#include "support/trace_file.hpp"

namespace starling::test::card_trace_tests {
namespace {

using network::opcode;
using network::status;

std::uint32_t queue_of(const trace_record& r) { return static_cast<std::uint32_t>(r.signal & 0xffffff); }
opcode opcode_of(const trace_record& r) { return static_cast<opcode>(r.signal >> 24); }
status status_of(const trace_record& r) { return static_cast<status>(r.signal >> 24); }

struct posted {
  opcode what;
  std::uint64_t bytes;
  int peer;
};

void check_posts(const traced_block& b, const std::vector<posted>& wanted) {
  const auto found = b.of(trace_operation::post);
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CHECK(opcode_of(found[i]) == wanted[i].what);
    CHECK(found[i].bytes == wanted[i].bytes);
    CHECK(found[i].peer == wanted[i].peer);
    CHECK(found[i].start <= found[i].end);
  }
}

// Numbers follow one another, each entry is complete, and none before it was posted.
void check_complete(const traced_block& b) {
  std::map<std::uint32_t, std::vector<trace_record>> posts;
  std::map<std::uint32_t, std::uint64_t> done;  // by queue: how many entries
  for (const trace_record& r : b.records) {
    if (r.op() == trace_operation::post) {
      auto& of_queue = posts[queue_of(r)];
      CHECK(r.value == of_queue.size());
      of_queue.push_back(r);
    }
    if (r.op() != trace_operation::completion) continue;
    const auto& of_queue = posts[queue_of(r)];
    std::uint64_t& before = done[queue_of(r)];
    CHECK(status_of(r) == status::ok);
    REQUIRE(r.value >= before);
    REQUIRE(r.value < of_queue.size());
    for (; before <= r.value; ++before) {
      CHECK(of_queue[before].end <= r.start);
      CHECK(of_queue[before].peer == r.peer);
    }
  }
  for (const auto& [queue, of_queue] : posts) CHECK(done[queue] == of_queue.size());
}

std::optional<machine> two_hosts(int depth = 64, fault_plan faults = {}) {
  host_options o;
  o.hosts = {0, 0, 1, 1};
  o.queue_depth = depth;
  o.faults = std::move(faults);
  return test_machine(4, o);
}

TEST_CASE("each entry of a call is a post, and has its completion") {
  auto m = two_hosts();
  if (!m) return;
  std::random_device random;
  const index_t n = 4 + random() % 200;
  CAPTURE(n);
  // Of each sender a box of its own: nothing orders them.
  auto boxes = zeroed<int>(*m, 3 * n);
  auto sources = zeroed<int>(*m, n);
  auto signals = zeroed<signal>(*m, 1);
  const sym<int> from_near = boxes.data();
  const sym<int> box = from_near + n;
  const sym<int> last = box + n;
  const sym<int> mine = sources.data();
  const sym<signal> s = signals.data();
  auto k = STARLING_KERNEL(block & b) {
    const int near = b.pe() ^ 1;
    const int far = (b.pe() + 2) % 4;
    b.put(from_near, mine.on(b.pe()), n, near);  // no card
    b.put(box, mine.on(b.pe()), n, far);
    b.put_nbi(box, mine.on(b.pe()), 2, far);
    b.put_signal(box, mine.on(b.pe()), n, s, 1, far);
    b.get(mine.on(b.pe()), box, n, far);
    b.signal_add(s, 1, far);
    (void)b.atomic_fetch_add(box, 1, far);
    b.quiet();
    b.put_nbi(last, mine.on(b.pe()), 3, 3 - b.pe());  // the end of the block waits for it
  };
  const trace_file t = traced(*m, [&] { m->run(1, k, {.threads = 32}); });
  const auto all = static_cast<std::uint64_t>(n) * sizeof(int);
  for (int pe = 0; pe < 4; ++pe) {
    const int far = (pe + 2) % 4;
    const traced_block& b = t.programs[0].at(pe, 0);
    check_posts(b, {{opcode::write, all, far},
                    {opcode::write, 8, far},
                    {opcode::write, all, far},
                    {opcode::write, 8, far},
                    {opcode::read, all, far},
                    {opcode::fetch_add, 8, far},
                    {opcode::fetch_add, 4, far},
                    {opcode::write, 12, 3 - pe}});
    check_complete(b);
  }
}

TEST_CASE("rings that wrap, and several queues of several blocks") {
  auto m = two_hosts(4);
  if (!m) return;
  auto words = zeroed<int>(*m, 3);
  const sym<int> x = words.data();
  auto k = STARLING_KERNEL(block & b) {
    for (int i = 0; i < 100 + b.index(); ++i) b.p(x + b.index(), i, (b.pe() + 2 + i % 2) % 4);
  };
  const trace_file t = traced(*m, [&] { m->run(3, k, {.threads = 32}); });
  std::map<std::uint32_t, int> owners;
  for (int pe = 0; pe < 4; ++pe)
    for (int i = 0; i < 3; ++i) {
      const traced_block& b = t.programs[0].at(pe, i);
      std::size_t far = 0;
      for (int c = 0; c < 100 + i; ++c) far += (pe + 2 + c % 2) % 4 / 2 != pe / 2 ? 1u : 0u;
      CHECK(b.of(trace_operation::post).size() == far);
      check_complete(b);
      std::map<std::uint32_t, int> own;
      for (const trace_record& r : b.of(trace_operation::post)) own[queue_of(r)] = r.peer;
      for (const auto& [queue, peer] : own) CHECK(owners.emplace(queue, 3 * pe + i).second);
    }
}

TEST_CASE("a machine of one host posts nothing") {
  auto m = test_machine(2, {.hosts = {0, 0}});
  if (!m) return;
  auto words = zeroed<int>(*m, 2);
  const sym<int> x = words.data();
  auto k = STARLING_KERNEL(block & b) { b.put(x, x.on(b.pe()) + 1, 1, 1 - b.pe()); };
  const trace_file t = traced(*m, [&] { m->run(1, k, {.threads = 32}); });
  for (const traced_block& b : t.programs[0].blocks) CHECK(b.records.size() == 1);
}

TEST_CASE("an entry that fails has the status of its completion, and so have those behind it") {
  if (skipped_on_gpus("lose links")) return;
  auto m = two_hosts(64, {{lose_link{{.pe = 1, .nth = 3}}}});
  auto words = zeroed<int>(*m, 1);
  const sym<int> x = words.data();
  auto k = STARLING_KERNEL(block & b) {
    if (b.pe() != 1) return;
    for (int i = 0; i < 6; ++i) b.p(x, i, 3);
    b.quiet();
  };
  const temporary_folder folder;
  m->trace_to(folder.file("t"));
  CHECK_THROWS_AS(m->run(1, k, {.threads = 32}), network_error);
  const trace_file t(folder.file("t"));
  const traced_block& b = t.programs[0].at(1, 0);
  const auto posts = b.of(trace_operation::post);
  REQUIRE(posts.size() == 6);
  std::vector<trace_record> failed;
  std::uint64_t good = 0;
  for (const trace_record& r : b.of(trace_operation::completion)) {
    if (status_of(r) == status::ok) good = r.value + 1;
    if (status_of(r) != status::ok) failed.push_back(r);
  }
  REQUIRE(!failed.empty());
  CHECK(good == failed[0].value);
  CHECK(good <= 2);
  CHECK(status_of(failed[0]) == status::retry_exceeded);
  CHECK(failed[0].start >= posts[good].end);
  for (std::size_t i = 1; i < failed.size(); ++i) CHECK(status_of(failed[i]) == status::flushed);
}

}  // namespace
}  // namespace starling::test::card_trace_tests
