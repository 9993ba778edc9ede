// Machines: what they say of themselves, copies, and which one best() takes.
#include "starling/machine/machine.hpp"

#include "support/environment_guard.hpp"
#include "support/failure.hpp"
#include "support/memory.hpp"
#include "support/test_machine.hpp"

namespace starling::test::machine_tests {
namespace {

TEST_CASE("a machine knows its devices") {
  auto m = test_machine(3);
  if (!m) return;
  CHECK(m->size() == 3);
  CHECK(m->kind() == (on_gpus() ? machine_kind::cuda : machine_kind::host));
  for (int pe = 0; pe < 3; ++pe) {
    const device_info& d = m->device(pe);
    CHECK_FALSE(d.name.empty());
    CHECK(d.memory_bytes > 0);
    CHECK(d.scratch_bytes >= 32768);
    CHECK((d.multiprocessors > 0) == on_gpus());
    CHECK((d.compute_capability >= 70) == on_gpus());
    for (int other = 0; other < 3; ++other)
      CHECK(m->link(pe, other) == (pe == other                                   ? peer_link::self
                                   : d.gpu >= 0 && d.gpu == m->device(other).gpu ? peer_link::same_device
                                                                                 : peer_link::direct));
    CHECK((d.gpu >= 0) == on_gpus());
    CHECK(d.pes_on_gpu >= 1);
  }
  CHECK_FALSE(m->choice().empty());
}

TEST_CASE("virtual devices have the memory and the blocks that were asked for") {
  const machine m = machine::host(2, {.memory_bytes = 1 << 20, .max_blocks = 5});
  CHECK(m.memory().capacity == 1 << 20);
  CHECK(m.memory().in_use == 0);
  CHECK(m.memory().largest_free == 1 << 20);
  CHECK(m.blocks_that_fit([](block&) {}) == 5);
  CHECK(m.device(1).name == "virtual device 1");
  CHECK(m.device(1).id == 1);
  CHECK(m.device(1).gpu == -1);
  CHECK(m.summary() == "2 virtual devices");
  CHECK(m.device(1).memory_bytes == 1 << 20);
}

TEST_CASE("kinds have names") {
  CHECK(std::string(name(machine_kind::host)) == "host");
  CHECK(std::string(name(machine_kind::cuda)) == "cuda");
}

TEST_CASE("the environment decides what virtual devices have by default") {
  const environment_guard memory("STARLING_HOST_MEMORY", "3M");
  const environment_guard blocks("STARLING_HOST_BLOCKS", "9");
  const machine m = machine::host(1);
  CHECK(m.memory().capacity == 3 << 20);
  CHECK(m.blocks_that_fit([](block&) {}) == 9);
}

TEST_CASE("copies go between any two places") {
  auto m = test_machine(2);
  if (!m) return;
  auto a = poisoned<int>(*m, 100);
  auto b = poisoned<int>(*m, 100);
  std::vector<int> values;
  for (int i = 0; i < 100; ++i) values.push_back(i * i);
  write(*m, a, 0, values);
  m->copy(b.on(1) + 10, a.on(0) + 20, 30 * sizeof(int));
  const std::vector<int> seen = read(*m, b, 1);
  for (int i = 0; i < 100; ++i)
    CHECK(seen[static_cast<std::size_t>(i)] == (i >= 10 && i < 40 ? (i + 10) * (i + 10) : poison_value<int>()));
  CHECK(read(*m, a, 0) == values);
  CHECK(read(*m, b, 0) == std::vector<int>(100, poison_value<int>()));
  std::vector<int> to(3);
  m->copy(to.data(), values.data() + 5, sizeof(int) * 3);
  CHECK(to == std::vector<int>{25, 36, 49});
  m->copy(nullptr, nullptr, 0);
}

TEST_CASE("fill sets every byte of the piece and no other") {
  auto m = test_machine(2);
  if (!m) return;
  auto a = zeroed<unsigned char>(*m, 1000);
  m->fill(a.on(1) + 3, 0x5a, 501);
  const std::vector<unsigned char> seen = read(*m, a, 1);
  for (std::size_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == (i >= 3 && i < 504 ? 0x5a : 0));
  CHECK(read(*m, a, 0) == std::vector<unsigned char>(1000, 0));
}

TEST_CASE("best takes virtual devices when told to, and says so") {
  const environment_guard kind("STARLING_MACHINE", "host");
  {
    const environment_guard devices("STARLING_DEVICES", nullptr);
    const machine m = machine::best();
    CHECK(m.kind() == machine_kind::host);
    CHECK(m.size() == 4);
    check_parts(m.choice(), {"4 virtual devices", "STARLING_MACHINE=host"});
  }
  const environment_guard devices("STARLING_DEVICES", "3");
  CHECK(machine::best().size() == 3);
  CHECK(machine::best(2).size() == 2);
}

TEST_CASE("best takes GPUs where there are enough, else virtual devices, and says why") {
  const environment_guard kind("STARLING_MACHINE", "auto");
  const environment_guard devices("STARLING_DEVICES", nullptr);
  const machine::cuda_status status = machine::probe_cuda();
  const machine m = machine::best();
  if (status.problem.empty()) {
    CHECK(m.kind() == machine_kind::cuda);
    CHECK(m.size() == pes_of_gpus());
  } else {
    CHECK(m.kind() == machine_kind::host);
    CHECK_FALSE(status.remedy.empty());
    check_parts(m.choice(), {"4 virtual devices", status.problem});
    CHECK(machine::best(200).size() == 200);
  }
}

TEST_CASE("cuda says what is missing and what to do, where there are no GPUs") {
  const machine::cuda_status status = machine::probe_cuda();
  if (status.problem.empty()) {
    CHECK(status.built);
    CHECK(status.devices > 0);
    CHECK_FALSE(status.driver.empty());
    return;
  }
  check_parts(failure_of<unsupported_error>([] { machine::cuda(); }), {status.problem, status.remedy});
  const environment_guard kind("STARLING_MACHINE", "cuda");
  check_parts(failure_of<unsupported_error>([] { machine::best(); }), {status.problem, status.remedy});
}

}  // namespace
}  // namespace starling::test::machine_tests
