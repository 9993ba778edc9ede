// Processes that reach each other by NVSHMEM, for whose library another one stands in.
#include <doctest/doctest.h>

#include "machine/distributed/board_group.hpp"
#include "machine/nvshmem/nvshmem_engine.hpp"
#include "processes/programs.hpp"
#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/processes.hpp"
#include "support/random.hpp"

namespace starling::test {
namespace {

struct by_nvshmem {
  environment_guard transport{"STARLING_TRANSPORT", "nvshmem"};
  environment_guard library{"STARLING_NVSHMEM_LIBRARY", STARLING_NVSHMEM_DOUBLE};
  environment_guard failure{"STARLING_NVSHMEM_DOUBLE", nullptr};
  environment_guard size{"NVSHMEM_SYMMETRIC_SIZE", nullptr};
};

// What each process of such a machine says.
std::vector<std::string> on_all(int n, const std::function<std::string(machine&)>& work, int pes = 1) {
  job j(n, [&](int) {
    machine m = machine::distributed({.pes = pes});
    return work(m);
  });
  return j.ends();
}

TEST_CASE("processes that reach each other by NVSHMEM compute the bits of one with as many PEs") {
  const by_nvshmem all;
  machine one = machine::host(4);
  const std::string expected = ring_bits(one, 200);
  for (const int n : {1, 2, 4})
    for (const std::string& text :
         on_all(n, [](machine& m) { return message(m.transport(), m.host_of(3), " ", ring_bits(m, 200)); }, 4 / n))
      CHECK(text == message("nvshmem", n - 1, " ", expected));
}

TEST_CASE("puts, gets and atomic operations go by NVSHMEM in the order that blocks ask for") {
  const by_nvshmem all;
  for (const auto& work : std::vector<std::function<std::string(machine&)>>{
           [](machine& m) { return mixed_calls(m, 20); }, [](machine& m) { return large_calls(m, 12); },
           [](machine& m) { return reused_sources(m, 4); }, [](machine& m) { return many_packets(m, 60); }})
    for (const std::string& text : on_all(3, work)) CHECK(text == "all right");
}

TEST_CASE("copies of the host that are larger than NVSHMEM's rings come whole") {
  const by_nvshmem all;
  for (const std::string& text : on_all(2, [](machine& m) {
         constexpr std::size_t n = 5'000'001;
         auto x = m.allocate<unsigned char>(n);
         random r(5);
         std::vector<unsigned char> sent(n);
         for (auto& v : sent) v = static_cast<unsigned char>(r.below(256));
         if (m.process() == 0) m.copy(x.on(1), sent.data(), n);
         m.meet();
         std::vector<unsigned char> got(n, 7);
         m.copy(got.data(), x.on(1), n);
         m.meet();
         return message(got == sent, " ", m.sent_bytes()[1]);
       }))
    CHECK((text == message("1 ", 5'000'001) || text == "1 0"));
}

TEST_CASE("machines of one process after each other, and two at once, keep their messages of NVSHMEM apart") {
  const by_nvshmem all;
  machine one = machine::host(2);
  const std::string expected = ring_bits(one, 20);
  for (const std::string& text : on_all(2, [&](machine& m) {
         for (int i = 0; i < 5; ++i) {
           machine other = machine::distributed();
           if (ring_bits(other, 20) != expected || ring_bits(m, 20) != expected) return message("differs: ", i);
         }
         return std::string("alike");
       }))
    CHECK(text == "alike");
}

TEST_CASE("a process that dies during large puts is named by those that it reached by NVSHMEM") {
  const by_nvshmem all;
  const environment_guard deadline("STARLING_DEADLINE", "0.8");
  const environment_guard meeting("STARLING_MEETING_DEADLINE", "1");
  job j(2, [&](int) {
    machine m = machine::distributed();
    put_without_end(m);
    return std::string("done");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  j.send(1, SIGKILL);
  check_parts(j.end_of(0, 20), {"process_error", "process 1 of 2", "did not come"});
}

// An engine alone: the order and the contents of random messages and data both ways, to the process itself too. Half of
// the messages, more than there is room for, are sent before anybody reads.
std::string random_traffic(engine& e, process_group& group, std::uint64_t seed) {
  random r(seed + static_cast<std::uint64_t>(e.rank()));
  constexpr int n = 60;
  const auto content = [](int from, int to, int number) {
    random s(static_cast<std::uint64_t>((from * 10 + to) * 1000 + number));
    message_bytes m(static_cast<std::size_t>(s.below(4) == 0 ? s.below(1'000'000) : s.below(300)));
    auto value = static_cast<std::uint32_t>(s.below(1 << 30));
    for (auto& b : m) b = static_cast<std::byte>((value += 0x9e3779b1u) >> 24);
    return m;
  };
  const auto size = static_cast<std::size_t>(e.size());
  std::vector<int> sent(size), came(size), data_sent(size), data_came(size), wanted(size);
  std::vector<message_bytes> places(size);
  std::vector<std::shared_ptr<message_bytes>> kept;
  int wrong = 0;
  for (int to = 0; to < e.size(); ++to)
    for (int& i = sent[static_cast<std::size_t>(to)]; i < n / 2; ++i) e.send(to, content(e.rank(), to, i));
  group.meet("random_traffic");
  const auto over = [&] {
    for (std::size_t p = 0; p < size; ++p)
      if (came[p] < n || data_came[p] < n || sent[p] < n || data_sent[p] < n) return false;
    return e.sent();
  };
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!over()) {
    if (std::chrono::steady_clock::now() > limit) return "hangs";
    const auto to = r.below(e.size());
    const auto p = static_cast<std::size_t>(to);
    if (sent[p] < n && r.below(2) == 0) e.send(to, content(e.rank(), to, sent[p]++));
    if (data_sent[p] < n && r.below(4) == 0) {
      auto data = std::make_shared<message_bytes>(content(to, e.rank(), 500 + data_sent[p]++));
      e.send_data(to, {data->data(), data->size(), data});
    }
    if (wanted[p] == data_came[p] && wanted[p] < n && r.below(3) == 0) {
      places[p].assign(content(e.rank(), to, 500 + wanted[p]).size(), std::byte{0xee});
      e.receive_data(to, {places[p].data(), places[p].size(), nullptr});
      ++wanted[p];
    }
    if (wanted[p] > data_came[p] && e.data_received(to))
      wrong += places[p] != content(e.rank(), to, 500 + data_came[p]++);
    int from = 0;
    message_bytes m;
    while (e.receive(from, m)) wrong += m != content(from, e.rank(), came[static_cast<std::size_t>(from)]++);
  }
  return message(e.name(), " ", wrong);
}

TEST_CASE("messages and data of any length, more than there is room for, come whole and in order") {
  const by_nvshmem all;
  job j(3, [](int) {
    board_group group(place_of(environment_variables()), "traffic", 1, 20);
    const auto e = nvshmem::make_engine(group, STARLING_NVSHMEM_DOUBLE);
    const std::string found = random_traffic(*e, group, 11);
    group.meet("traffic");
    return found;
  });
  for (const std::string& text : j.ends()) CHECK(text == "nvshmem 0");
}

TEST_CASE("an NVSHMEM that cannot be had is an error that says what to do, in all processes") {
  const by_nvshmem all;
  struct failing {
    const char* name;
    const char* value;
    const char* error;
    const char* says;
    const char* next;
  };
  for (const failing& f : {
           failing{"STARLING_NVSHMEM_LIBRARY", "libno_such.so.3", "unsupported_error", "libno_such.so.3",
                   "pip install"},
           failing{"STARLING_NVSHMEM_LIBRARY", "libc.so.6", "unsupported_error", "libc.so.6 has no nvshmemx_",
                   "set STARLING"},
           failing{"STARLING_NVSHMEM_DOUBLE", "version", "unsupported_error", "NVSHMEM 2.4.5",
                   "STARLING_NVSHMEM_LIBRARY"},
           failing{"STARLING_NVSHMEM_DOUBLE", "unique_id", "unsupported_error", "nvshmemx_get_uniqueid returns 7",
                   "NVSHMEM_DEBUG"},
           failing{"STARLING_NVSHMEM_DOUBLE", "init", "unsupported_error", "it returns 7", "STARLING_TRANSPORT=mpi"},
           failing{"STARLING_NVSHMEM_DOUBLE", "no_gpu", "unsupported_error", "status is 1", "needs a GPU"},
           failing{"STARLING_NVSHMEM_DOUBLE", "number", "unsupported_error", "this process 1 of 2", "it 0 of 2"},
           failing{"STARLING_NVSHMEM_DOUBLE", "gpu_memory", "unsupported_error", "memory of a GPU",
                   "NVSHMEM_HEAP_KIND=SYSMEM"},
           failing{"NVSHMEM_SYMMETRIC_SIZE", "100000", "memory_error", "2 processes", "NVSHMEM_SYMMETRIC_SIZE=16777"},
       }) {
    CAPTURE(f.value);
    const environment_guard set(f.name, f.value);
    for (const std::string& text : on_all(2, [](machine& m) { return m.choice(); }))
      check_parts(text, {f.error, f.says, f.next, "(process 0 of 2)"});
  }
}

TEST_CASE("an NVSHMEM that one process lacks is named to the others") {
  const by_nvshmem all;
  job j(2, [](int rank) {
    const environment_guard library("STARLING_NVSHMEM_LIBRARY", rank == 1 ? "libnone.so" : STARLING_NVSHMEM_DOUBLE);
    return machine::distributed().choice();
  });
  for (const std::string& text : j.ends())
    check_parts(text, {"unsupported_error", "libnone.so", "process 1 of 2", "set STARLING_NVSHMEM_LIBRARY"});
}

}  // namespace
}  // namespace starling::test
