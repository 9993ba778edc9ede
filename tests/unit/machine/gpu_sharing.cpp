// PEs that share GPUs, as far as it is arithmetic: which GPU a PE is on, what it has of it, what is set that lets
// kernels run one after the other. GPUs and their numbers are made up here.
#include "machine/gpu_placement.hpp"

#include <algorithm>

#include "machine/gpu_shares.hpp"
#include "machine/launch_queues.hpp"
#include "starling/machine/device_info.hpp"
#include "support/failure.hpp"
#include "support/random.hpp"

namespace starling::test::gpu_sharing_tests {
namespace {

environment with(int pes_per_gpu) {
  environment e;
  e.pes_per_gpu = pes_per_gpu;
  return e;
}

using ids = std::vector<int>;

TEST_CASE("one PE per GPU unless somebody says otherwise") {
  CHECK(place_pes({}, {}, {}, 3) == ids{0, 1, 2});
  CHECK(place_pes({2, 0}, {}, {}, 3) == ids{2, 0});
  CHECK_FALSE(may_share({}, {}, {}));
  CHECK_FALSE(may_share({2, 0}, {}, {}));
}

TEST_CASE("ids that name a GPU several times, or a number for all") {
  CHECK(place_pes({0, 0, 1, 1}, {}, {}, 2) == ids{0, 0, 1, 1});
  CHECK(place_pes({1, 0, 1}, {}, {}, 2) == ids{1, 0, 1});
  CHECK(place_pes({}, {.pes_per_gpu = 4}, {}, 1) == ids{0, 0, 0, 0});
  CHECK(place_pes({}, {.pes_per_gpu = 2}, {}, 2) == ids{0, 0, 1, 1});
  CHECK(place_pes({1}, {.pes_per_gpu = 3}, {}, 2) == ids{1, 1, 1});
  CHECK(may_share({0, 0}, {}, {}));
  CHECK(may_share({}, {.pes_per_gpu = 2}, {}));
}

TEST_CASE("the environment counts GPUs several times where the program does not say") {
  CHECK(place_pes({}, {}, with(4), 1) == ids{0, 0, 0, 0});
  CHECK(place_pes({}, {}, with(2), 2) == ids{0, 0, 1, 1});
  CHECK(place_pes({0, 1, 2, 3}, {}, with(4), 1) == ids{0, 0, 0, 0});
  CHECK(place_pes({1, 4}, {}, with(4), 2) == ids{0, 1});
  CHECK(may_share({0}, {}, with(4)));
  // What the program says wins.
  CHECK(place_pes({1, 1}, {}, with(4), 2) == ids{1, 1});
  CHECK(place_pes({1}, {.pes_per_gpu = 1}, with(4), 2) == ids{1});
  CHECK_FALSE(may_share({1}, {.pes_per_gpu = 1}, with(4)));
}

TEST_CASE("random numbers of GPUs and PEs: every PE has a GPU that is there, and each GPU its number") {
  random r(91);
  for (int i = 0; i < 200; ++i) {
    const int gpus = 1 + static_cast<int>(r.below(8));
    const int each = 1 + static_cast<int>(r.below(4));
    const ids all = place_pes({}, {.pes_per_gpu = each}, {}, gpus);
    CHECK(all == place_pes({}, {}, with(each), gpus));
    CHECK(all.size() == static_cast<std::size_t>(gpus * each));
    for (int g = 0; g < gpus; ++g) CHECK(pes_on(all, g).size() == static_cast<std::size_t>(each));
    CHECK(std::is_sorted(all.begin(), all.end()));
  }
}

TEST_CASE("numbers and ordinals that make no sense") {
  check_parts(failure_of<argument_error>([] { check_cuda_options({}, {.pes_per_gpu = 0}); }),
              {"pes_per_gpu = 0", "at least 1"});
  check_parts(failure_of<argument_error>([] { check_cuda_options({}, {.pes_per_gpu = -2}); }), {"pes_per_gpu = -2"});
  check_parts(failure_of<argument_error>([] { check_cuda_options({-1}, {}); }), {"no device -1"});
  check_parts(failure_of<argument_error>([] { check_cuda_options({0, 0}, {.pes_per_gpu = 2}); }),
              {"device 0 more than once", "pes_per_gpu = 2", "one of the two"});
  CHECK(place_pes({}, {.pes_per_gpu = 16}, {}, 2).size() == 32);
  check_parts(failure_of<argument_error>([] { (void)place_pes({}, {.pes_per_gpu = 17}, {}, 2); }),
              {"34 PEs", "at most 32"});
  check_parts(failure_of<argument_error>([] { (void)place_pes({0, 1, 2, 3}, {}, {}, 1); }),
              {"no device 1", "device 0 only", "--pes-per-gpu 4", "STARLING_PES_PER_GPU=4", "pes_per_gpu = 4"});
  check_parts(failure_of<argument_error>([] { (void)place_pes({5}, {}, {}, 4); }),
              {"no device 5", "devices 0 to 3", "--pes-per-gpu 2"});
  check_parts(failure_of<argument_error>([] { (void)place_pes({4}, {}, with(4), 1); }),
              {"no device 4", "counts each 4 times"});
  const std::string far = failure_of<argument_error>([] { (void)place_pes({4321}, {}, {}, 1); });
  CHECK(far.find("--pes-per-gpu") == std::string::npos);
  check_parts(failure_of<argument_error>([] { (void)place_pes({0, 0, 3}, {}, {}, 1); }), {"no device 3"});
}

TEST_CASE("how they share: options win over the environment") {
  environment e;
  CHECK(sharing_of({}, e) == gpu_sharing::automatic);
  e.gpu_sharing = "plain";
  CHECK(sharing_of({}, e) == gpu_sharing::plain);
  CHECK(sharing_of({.sharing = gpu_sharing::partitions}, e) == gpu_sharing::partitions);
}

TEST_CASE("what a machine has, in words") {
  const auto text = [](const ids& placement) {
    std::vector<device_info> all(placement.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i].gpu = placement[i];
    return summary(machine_kind::cuda, all);
  };
  CHECK(text({0}) == "1 GPU");
  CHECK(text({0, 1}) == "2 GPUs");
  CHECK(text({0, 0, 0, 0}) == "4 PEs on 1 GPU");
  CHECK(text({0, 0, 1}) == "3 PEs on 2 GPUs");
  CHECK(summary(machine_kind::host, std::vector<device_info>(3)) == "3 virtual devices");
  CHECK(most_on_one({0, 1, 2}) == 1);
  CHECK(most_on_one({0, 1, 0, 2, 0}) == 3);
  CHECK(list_of_pes({2}) == "PE 2");
  CHECK(list_of_pes({0, 3}) == "PEs 0 and 3");
  CHECK(list_of_pes({0, 1, 2}) == "PEs 0, 1 and 2");
}

TEST_CASE("multiprocessors of a share") {
  CHECK(plain_share(132, 4, "gpu") == 33);
  CHECK(plain_share(132, 132, "gpu") == 1);
  check_parts(failure_of<argument_error>([] { (void)plain_share(132, 133, "device 0 (NVIDIA H200)"); }),
              {"133 PEs", "device 0 (NVIDIA H200)", "132 multiprocessors", "at most 132"});
  CHECK(partition_size(132, 4, 8, 8) == 32);
  CHECK(partition_size(132, 2, 8, 8) == 64);
  CHECK(partition_size(132, 16, 8, 8) == 8);
  CHECK_FALSE(partition_size(132, 17, 8, 8));
  CHECK(partition_size(108, 4, 4, 2) == 26);
  CHECK(partition_size(10, 3, 0, 0) == 3);
  CHECK_FALSE(partition_size(2, 3, 0, 1));
}

// Placing blocks of all PEs in any order, wherever there is room, must never leave one out.
TEST_CASE("blocks that are counted as resident find room in any order") {
  random r(92);
  for (int trial = 0; trial < 300; ++trial) {
    const int multiprocessors = 1 + static_cast<int>(r.below(40));
    const int pes = 1 + static_cast<int>(r.below(std::min(multiprocessors, 6)));
    // Two kinds of blocks, by what they take of a multiprocessor's 100 units.
    const int takes[2] = {1 + static_cast<int>(r.below(100)), 1 + static_cast<int>(r.below(100))};
    const int held = std::min(100 / takes[0], 100 / takes[1]);
    const shared_blocks s = blocks_of_shares(held, multiprocessors, pes, 0);
    CHECK(s.fit == held * (multiprocessors / pes));
    std::vector<int> used(static_cast<std::size_t>(multiprocessors), 0);
    for (int b = 0; b < s.fit * pes; ++b) {
      const int need = takes[r.below(2)];
      std::vector<std::size_t> room;
      for (std::size_t i = 0; i < used.size(); ++i)
        if (used[i] + need <= 100) room.push_back(i);
      REQUIRE_FALSE(room.empty());
      used[room[static_cast<std::size_t>(r.below(static_cast<index_t>(room.size())))]] += need;
    }
  }
  CHECK(blocks_of_shares(8, 132, 4, 100).crowded == 4);  // 400 blocks on 132 multiprocessors
  CHECK(blocks_of_shares(8, 132, 1, 132).crowded == 1);
}

TEST_CASE("memory of a share, and what is left of it") {
  constexpr std::size_t page = 2 << 20;
  CHECK(memory_share(100 * page + 5, {0, 1, 2}, page, "gpu") == 33 * page);
  check_parts(failure_of<memory_error>([] { (void)memory_share(page, {0, 1}, page, "device 0 (NVIDIA H200)"); }),
              {"device 0 (NVIDIA H200)", "2 MiB", "PEs 0 and 1", "fewer PEs per GPU"});
  memory_shares shares({4 * page, memory_shares::no_limit});
  CHECK(shares.take(0, 3 * page));
  CHECK(shares.left(0) == page);
  CHECK_FALSE(shares.take(0, 2 * page));
  CHECK(shares.left(0) == page);
  CHECK(shares.take(0, page));
  CHECK_FALSE(shares.take(0, 1));
  shares.give_back(0, 2 * page);
  CHECK(shares.left(0) == 2 * page);
  CHECK(shares.take(1, std::size_t{1} << 50));
  CHECK(shares.left(1) == memory_shares::no_limit);
  check_parts(share_is_full("PE 1 (GPU)", page, 4 * page, {0, 1}),
              {"PE 1 (GPU) has 2 MiB left of its share of 8 MiB", "PEs 0 and 1 share", "fewer PEs per GPU"});
}

TEST_CASE("hardware queues: how many are needed, how many there are") {
  CHECK(queues_needed(1) == 8);
  CHECK(queues_needed(2) == 16);
  CHECK(queues_needed(4) == 32);
  CHECK(queues_needed(9) == 32);
  CHECK(queues_set({}) == 8);
  CHECK(queues_set({{"CUDA_DEVICE_MAX_CONNECTIONS", "32"}}) == 32);
  CHECK(queues_set({{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}}) == 1);
  for (const char* wrong : {"", "x", "0", "33", "8x", "-1"})
    CHECK(queues_set({{"CUDA_DEVICE_MAX_CONNECTIONS", wrong}}) == 8);
  CHECK(too_few_queues(32, 4, true).empty());
  CHECK(too_few_queues(16, 2, false).empty());
  check_parts(too_few_queues(8, 4, true),
              {"in use before", "8 hardware queues", "4 PEs", "may need 32", "CUDA_DEVICE_MAX_CONNECTIONS=32"});
}

TEST_CASE("kernels that are loaded late are named") {
  CHECK(loaded_late(false).empty());
  check_parts(loaded_late(true), {"first met while others run", "CUDA_MODULE_LOADING=EAGER"});
}

TEST_CASE("at most half of the hardware queues wait for programs") {
  CHECK(too_many_waiting(4, 1, 8).empty());
  CHECK(too_many_waiting(4, 4, 32).empty());
  check_parts(too_many_waiting(5, 1, 8), {"5 streams", "half of its 8 hardware queues", "MAX_CONNECTIONS=32"});
  check_parts(too_many_waiting(2, 4, 8), {"2 streams", "4 PEs"});
}

TEST_CASE("what may let kernels run one after the other is named") {
  const variables good = {{"CUDA_DEVICE_MAX_CONNECTIONS", "32"}, {"CUDA_LAUNCH_BLOCKING", "0"}};
  CHECK(serialising_settings(good, 4).empty());
  check_parts(serialising_settings({{"CUDA_DEVICE_MAX_CONNECTIONS", "32"}, {"CUDA_LAUNCH_BLOCKING", "1"}}, 4),
              {"CUDA_LAUNCH_BLOCKING=1"});
  check_parts(serialising_settings({{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}}, 2), {"1 hardware queues"});
  for (const char* name : {"CUDA_INJECTION64_PATH", "NV_SANITIZER_INJECTION_PORT_BASE", "NSYS_PROFILING_SESSION_ID"})
    check_parts(serialising_settings({{"CUDA_DEVICE_MAX_CONNECTIONS", "32"}, {name, "x"}}, 4), {name, "sanitizer"});
  check_parts(no_answer("4 PEs on 1 GPU", 1, "CUDA_LAUNCH_BLOCKING=1"),
              {"4 PEs on 1 GPU", "did not answer", "1 s", "CUDA_LAUNCH_BLOCKING=1", "machine::host"});
  check_parts(no_answer("4 PEs on 1 GPU", 1, ""), {"nothing that is known"});
}

}  // namespace
}  // namespace starling::test::gpu_sharing_tests
