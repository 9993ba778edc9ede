// Memory of another process that no engine reaches, and where what is stored is there a while later: as of GPUs.
#include <doctest/doctest.h>

#include <deque>

#include "machine/far_memory.hpp"
#include "support/failure.hpp"
#include "support/processes.hpp"
#include "support/random.hpp"
#include "support/socket_engine.hpp"

namespace starling::test {
namespace {

constexpr index_t stride = 1 << 20;

// Stores wait, in their order, until somebody wants them to be there, or there are many.
class late_memory final : public near_memory {
 public:
  bool engine_reaches() const override { return false; }
  void store(void* to, const void* from, std::size_t bytes) override {
    const auto* data = static_cast<const std::byte*>(from);
    waiting_.push_back({to, {data, data + bytes}});
    largest_ = std::max(largest_, bytes);
    ++stores_;
  }
  void load(void* to, const void* from, std::size_t bytes) override {
    settle();
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void written(void*, std::size_t) override { ++written_; }
  std::uint64_t change(void* word, word_change, std::size_t, std::uint64_t operand, std::uint64_t) override {
    settle();
    std::uint64_t old = 0;
    std::memcpy(&old, word, sizeof old);
    const std::uint64_t now = old + operand;
    std::memcpy(word, &now, sizeof now);
    return old;
  }
  void settle() override {
    for (const auto& [to, data] : waiting_) std::memcpy(to, data.data(), data.size());
    waiting_.clear();
  }
  void wake_all() override {}
  bool failed() const override { return failing_; }

  void fail() { failing_ = true; }
  std::string counts() const { return message(stores_, " stores of up to ", largest_, ", ", written_, " apart"); }

 private:
  struct store_of {
    void* to;
    std::vector<std::byte> data;
  };
  std::deque<store_of> waiting_;
  std::size_t largest_ = 0;
  int stores_ = 0;
  int written_ = 0;
  std::atomic<bool> failing_{false};
};

struct end_of_pair {
  explicit end_of_pair(const socket_mesh& mesh, int rank)
      : group(place_of(environment_variables()), mesh.engine_of(rank), message("host ", rank), "far memory", 1, 10),
        memory(2 * stride),
        far(group, near, memory.data(), stride, 1, nullptr, ended) {
    group.meet("test");  // both have their memory
  }
  ~end_of_pair() {
    group.leave();
    group.messages().work_too({});
  }

  // Runs by the engine's thread until it says that it is done.
  void work(const std::function<bool()>& step) {
    std::atomic<bool> over{false};
    group.messages().work_too([&] {
      const bool told = far.tell();
      if (!over.load() && step()) over = true;
      return told || !over.load();
    });
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!over.load() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    group.messages().work_too([this] { return far.tell(); });
    if (!over.load()) throw std::runtime_error("no end");
  }
  std::byte* on(int pe) { return memory.data() + pe * stride; }

  late_memory near;
  engine_group group;
  std::vector<std::byte> memory;
  std::atomic<std::uint64_t> ended{0};
  far_memory far;
};

std::vector<std::byte> random_bytes(std::size_t n) {
  random r(n);
  std::vector<std::byte> all(n);
  for (auto& b : all) b = static_cast<std::byte>(r.below(256));
  return all;
}

TEST_CASE("what is settled is there, and words are stored one by one, none apart") {
  const socket_mesh mesh(2);
  job j(2, [&](int rank) {
    end_of_pair e(mesh, rank);
    const std::vector<std::byte> data = random_bytes(300'001);
    std::string text;
    if (rank == 0) {
      const network::entry_name large{7, 1}, word{7, 2}, next{7, 3};
      std::vector<std::byte> back(data.size());
      int step = 0;
      std::uint64_t old = 1;
      e.work([&] {
        if (step++ == 0) {
          std::vector<std::byte> gone = data;  // what was put has been read when the call returns
          e.far.put(large, e.on(1) + 3, gone.data(), gone.size());
          std::fill(gone.begin(), gone.end(), std::byte{0});
          const std::uint64_t words[] = {11, 12};
          e.far.put(word, e.on(1) + 400'000, &words[0], 8);
          e.far.put(next, e.on(1) + 400'008, &words[1], 8);
        }
        if (!e.far.settled(large) || !e.far.settled(word) || !e.far.settled(next)) return false;
        e.far.get(back.data(), e.on(1) + 3, back.size());
        network::order add;
        add.what = network::opcode::fetch_add;
        add.bytes = 8;
        add.operand = 5;
        old = e.far.change(e.on(1) + 400'008, add);
        return true;
      });
      text = message(back == data, " ", old);
    } else {
      e.work([] { return true; });
    }
    e.group.meet("test");
    if (rank == 1) {
      std::uint64_t words[2];
      std::memcpy(words, e.on(1) + 400'000, sizeof words);
      const bool whole = std::equal(data.begin(), data.end(), e.on(1) + 3);
      text = message(whole, " ", words[0], " ", words[1], ", ", e.near.counts());
    }
    e.group.meet("test");
    return text;
  });
  CHECK(j.end_of(0) == "1 12");
  CHECK(j.end_of(1) == "1 11 17, 5 stores of up to 131072, 0 apart");
}

TEST_CASE("what other threads post is done in its order, and all of it when they have waited for it") {
  const socket_mesh mesh(2);
  job j(2, [&](int rank) {
    end_of_pair e(mesh, rank);
    const std::vector<std::byte> data = random_bytes(900);
    std::string text;
    if (rank == 0) {
      constexpr word_order add{word_change::fetch_add, 8, 5};
      std::vector<std::byte> gone = data;
      e.far.post({e.on(1) + 64, 24, gone.data(), 9, 9, 100});
      e.far.post_change(e.on(1), add);
      std::fill(gone.begin(), gone.end(), std::byte{0});
      const std::uint64_t between = e.far.change(e.on(1), add, "test");
      e.far.post_change(e.on(1), add);
      e.far.post({e.on(1) + 64 + 100 * 24, 1, data.data(), 1, 1, 1});
      e.far.finish({1}, "test");
      text = message(between);
    }
    e.group.meet("test");
    if (rank == 1) {
      bool whole = e.on(1)[64 + 100 * 24] == data[0];
      for (std::size_t row = 0; row < 100; ++row)
        whole = whole && std::memcmp(e.on(1) + 64 + 24 * row, data.data() + 9 * row, 9) == 0;
      std::uint64_t sum = 0;
      std::memcpy(&sum, e.on(1), sizeof sum);
      text = message(whole, " ", sum);
    }
    e.group.meet("test");
    return text;
  });
  CHECK(j.end_of(0) == "5");
  CHECK(j.end_of(1) == "1 15");
}

TEST_CASE("copies of the host come behind what was put, and all is confirmed before a run goes on") {
  const socket_mesh mesh(2);
  job j(2, [&](int rank) {
    end_of_pair e(mesh, rank);
    const std::vector<std::byte> data = random_bytes(200'000);
    bool confirmed = false;
    if (rank == 0) {
      bool put = false;
      e.work([&] {
        if (!put) e.far.put({1, 1}, e.on(1), data.data(), data.size());
        put = true;
        return true;
      });
      e.far.await_confirmed(10);
      std::vector<std::byte> back(data.size());
      e.far.read({back.data(), back.size(), e.on(1), back.size(), back.size(), 1});
      e.far.write({e.on(1) + 500'000, 100, data.data(), 100, 100, 3});
      std::vector<std::byte> rows(300);
      e.far.read({rows.data(), 300, e.on(1) + 500'000, 300, 300, 1});
      confirmed = back == data && std::equal(rows.begin(), rows.end(), data.begin());
    } else {
      e.work([] { return true; });
    }
    e.group.meet("test");
    return message(confirmed);
  });
  CHECK(j.end_of(0) == "1");
}

TEST_CASE("of memory that has failed nothing is said to be done") {
  const socket_mesh mesh(2);
  job j(2, [&](int rank) {
    end_of_pair e(mesh, rank);
    if (rank == 1) e.near.fail();
    e.group.meet("test");
    bool settled = false;
    if (rank == 0) {
      const std::uint64_t one = 1;
      int looks = 0;
      e.work([&] {
        if (looks++ == 0) e.far.put({1, 1}, e.on(1), &one, 8);
        settled = e.far.settled({1, 1});
        return settled || looks > 20'000;
      });
      e.far.await_confirmed(0.2);
      settled = settled || e.far.settled({1, 1});
    } else {
      e.work([] { return true; });
    }
    e.group.meet("test");
    return message(settled);
  });
  CHECK(j.end_of(0) == "0");
}

}  // namespace
}  // namespace starling::test
