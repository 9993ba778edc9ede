// The near side of a transfer: a put whose source, or a get whose destination, is not whole memory of the block's own
// PE. Plain runs of virtual devices refuse what they know to be wrong; nothing is written then.
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::near_side_tests {
namespace {

class near_side_fixture {
 public:
  sym<int> small() const { return small_.data(); }
  sym<int> large() const { return large_.data(); }

  // The kernel, made with the line of the call, is refused with all these parts; neighbouring arrays are as they were.
  template <class Kernel>
  void check_refused(const Kernel& k, std::initializer_list<std::string> parts) {
    check_parts(failure_of<range_error>([&] { m_.run(1, k, {.scratch_bytes = 64}); }), parts);
    for (int pe = 0; pe < m_.size(); ++pe) {
      CHECK(read(m_, behind_, pe) == std::vector<int>(100, 0));
      CHECK(read(m_, large_, pe) == std::vector<int>(256, 0));
    }
    check_usable(m_);
  }
  machine& on() { return m_; }

 private:
  machine m_ = machine::host(2);
  symmetric_array<int> small_ = zeroed<int>(m_, 4);
  symmetric_array<int> behind_ = zeroed<int>(m_, 100);
  symmetric_array<int> large_ = zeroed<int>(m_, 256);
};

TEST_CASE("get into an array that is too small") {
  near_side_fixture f;
  const sym<int> small = f.small(), large = f.large();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.get(small.on(0), large, 256, 1);
  };
  f.check_refused(k, {message("get at tests/misuse/near_side.cpp:", line), "the destination, 1024 bytes at +0x",
                      "on PE 0", "not inside one live allocation", "check the size"});
}

TEST_CASE("put from an array that is too small") {
  near_side_fixture f;
  const sym<int> small = f.small(), large = f.large();
  const int line = __LINE__ + 2;
  const auto k = [=](block& b) {
    if (b.pe() == 1) b.put(large, small.on(1), 5, 0);
  };
  f.check_refused(k, {message("put at tests/misuse/near_side.cpp:", line), "the source, 20 bytes at +0x", "on PE 1",
                      "not inside one live allocation"});
}

TEST_CASE("the nonblocking and strided forms") {
  near_side_fixture f;
  const sym<int> small = f.small(), large = f.large();
  f.check_refused([=](block& b) { b.get_nbi(small.on(b.pe()), large, 5, b.pe()); }, {"the destination, 20 bytes"});
  f.check_refused([=](block& b) { b.put_nbi(large, small.on(b.pe()), 5, b.pe()); }, {"the source, 20 bytes"});
  f.check_refused([=](block& b) { b.iget(small.on(b.pe()), 2, large, 1, 3, b.pe()); }, {"the destination, 20 bytes"});
  f.check_refused([=](block& b) { b.iput(large, 1, small.on(b.pe()), 2, 3, b.pe()); }, {"the source, 20 bytes"});
}

TEST_CASE("memory of another PE at the near side") {
  near_side_fixture f;
  const sym<int> small = f.small(), large = f.large();
  const auto get = [=](block& b) {
    if (b.pe() == 0) b.get(small.on(1), large, 4, 1);
  };
  f.check_refused(get,
                  {"the destination, 16 bytes", "on PE 1, is memory of another PE", "a get writes to", "its own PE 0"});
  const auto put = [=](block& b) {
    if (b.pe() == 1) b.put(large, small.on(0), 4, 0);
  };
  f.check_refused(put,
                  {"the source, 16 bytes", "on PE 0, is memory of another PE", "a put reads from", "its own PE 1"});
}

TEST_CASE("past the end of scratch memory") {
  near_side_fixture f;
  const sym<int> large = f.large();
  f.check_refused([=](block& b) { b.get(b.scratch<int>(4), large, 5, b.pe()); },
                  {"the destination, 20 bytes at +0x0 of local or scratch memory"});
  f.check_refused([=](block& b) { b.put(large, b.scratch<int>(4) + 2, 3, b.pe()); },
                  {"the source, 12 bytes at +0x8 of local or scratch memory"});
}

TEST_CASE("past the end of local memory") {
  near_side_fixture f;
  const sym<int> large = f.large();
  const local_memory memory = f.on().allocate_on(0, 40);
  int* const local = reinterpret_cast<int*>(memory.data());
  const auto k = [=](block& b) {
    if (b.pe() == 0) b.get(local, large, 11, 0);
  };
  f.check_refused(k, {"the destination, 44 bytes", "of local or scratch memory"});
}

TEST_CASE("the whole of an array, of scratch, a stack array and memory of the host are right") {
  near_side_fixture f;
  const sym<int> small = f.small(), large = f.large();
  std::vector<int> of_host(8, 3);
  int* const host = of_host.data();
  const auto k = [=](block& b) {
    int stack[4] = {1, 2, 3, 4};
    int* const scratch = b.scratch<int>(4);
    b.get(scratch, small, 4, b.pe());
    b.put(small, scratch, 4, b.pe());
    b.quiet();
    b.put(large, small.on(b.pe()), 4, b.pe());
    b.put(large + 4, stack, 4, b.pe());
    if (b.pe() == 0) b.put(large + 8, host, 8, b.pe());
  };
  f.on().run(1, k, {.scratch_bytes = 64});
  const symmetric_array<int> check = zeroed<int>(f.on(), 16);
  const sym<int> seen = check.data();
  f.on().run(1, [=](block& b) { b.get(seen.on(b.pe()), large, 16, b.pe()); });
  CHECK(read(f.on(), check, 0) == std::vector<int>{0, 0, 0, 0, 1, 2, 3, 4, 3, 3, 3, 3, 3, 3, 3, 3});
}

}  // namespace
}  // namespace starling::test::near_side_tests
