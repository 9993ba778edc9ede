// Which devices the processes of a job take.
#include "machine/process_devices.hpp"

#include <doctest/doctest.h>

#include "support/environment_guard.hpp"
#include "support/failure.hpp"

namespace starling::test {
namespace {

process_place place_of_rank(int rank, int size) {
  process_place p;
  p.rank = rank;
  p.size = size;
  return p;
}

machine::cuda_status status_of(int gpus) {
  machine::cuda_status s;
  s.built = true;
  s.devices = gpus;
  if (gpus == 0) s.problem = "the NVIDIA driver shows no GPU";
  s.remedy = "check nvidia-smi";
  return s;
}

TEST_CASE("without a word processes take GPUs where there are enough for all") {
  environment e;
  const process_place p = place_of_rank(1, 4);
  CHECK(on_gpus({}, p, e, status_of(4)));
  CHECK(on_gpus({}, p, e, status_of(8)));
  CHECK_FALSE(on_gpus({}, p, e, status_of(3)));
  CHECK_FALSE(on_gpus({}, p, e, status_of(0)));
  CHECK_FALSE(on_gpus({.pes = 2}, p, e, status_of(4)));
  e.pes_per_gpu = 4;
  CHECK(on_gpus({}, p, e, status_of(1)));
  e.transport = "mpi";
  CHECK_FALSE(on_gpus({}, p, e, status_of(4)));
}

TEST_CASE("the program's word comes before the environment's") {
  environment e;
  const process_place p = place_of_rank(0, 2);
  e.distributed = "host";
  CHECK_FALSE(on_gpus({}, p, e, status_of(2)));
  CHECK(on_gpus({.kind = machine_kind::cuda}, p, e, status_of(2)));
  e.distributed = "cuda";
  CHECK(on_gpus({}, p, e, status_of(1)));  // each is taken to see a GPU of its own
  CHECK_FALSE(on_gpus({.kind = machine_kind::host}, p, e, status_of(2)));
}

TEST_CASE("GPUs that cannot be had are refused with what to do") {
  environment e;
  const process_place p = place_of_rank(0, 2);
  check_parts(failure_of<unsupported_error>([&] { (void)on_gpus({.kind = machine_kind::cuda}, p, e, status_of(0)); }),
              {"shows no GPU", "check nvidia-smi", "STARLING_DISTRIBUTED=host"});
}

TEST_CASE("GPUs of several hosts are taken where they are asked for alone") {
  environment e;
  process_place p = place_of_rank(0, 2);
  const auto taken = [&] {
    return std::pair(on_gpus({.kind = machine_kind::cuda}, p, e, status_of(2)), on_gpus({}, p, e, status_of(2)));
  };
  CHECK(taken() == std::pair(true, true));
  for (const char* engine : {"mpi", "nvshmem"}) {
    e.transport = engine;
    CHECK(taken() == std::pair(true, false));
  }
  e.transport = "auto";
  p.several_hosts = true;
  CHECK(taken() == std::pair(true, false));
}

TEST_CASE("PEs are distributed round-robin over the GPUs") {
  environment e;
  CHECK(gpus_of_process(1, place_of_rank(2, 4), e, 4) == std::vector<int>{2});
  CHECK(gpus_of_process(2, place_of_rank(1, 2), e, 4) == std::vector<int>{2, 3});
  e.pes_per_gpu = 2;
  CHECK(gpus_of_process(1, place_of_rank(3, 4), e, 2) == std::vector<int>{1});
  CHECK(gpus_of_process(2, place_of_rank(1, 2), e, 2) == std::vector<int>{1, 1});
}

TEST_CASE("a process asks for the hardware queues of its own PEs on a GPU alone") {
  environment e;
  CHECK(queues_of_process(1, e) == 0);
  CHECK(queues_of_process(4, e) == 0);
  e.pes_per_gpu = 4;
  CHECK(queues_of_process(1, e) == 0);
  CHECK(queues_of_process(2, e) == 16);
  CHECK(queues_of_process(8, e) == 32);
}

TEST_CASE("where there are too few for all each process has its own") {
  environment e;
  CHECK(gpus_of_process(1, place_of_rank(3, 4), e, 1) == std::vector<int>{0});
  CHECK(gpus_of_process(2, place_of_rank(1, 4), e, 2) == std::vector<int>{0, 1});
  check_parts(failure_of<argument_error>([&] { (void)gpus_of_process(3, place_of_rank(0, 4), e, 2); }),
              {"3 PEs", "2 GPUs", "STARLING_PES_PER_GPU"});
}

}  // namespace
}  // namespace starling::test
