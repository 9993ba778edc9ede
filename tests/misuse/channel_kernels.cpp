// Channels that make no sense, and messages that a channel cannot carry.
#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test::channel_tests {
namespace {

TEST_CASE("channels that cannot be made name the argument and what it may be") {
  auto m = test_machine(1);
  if (!m) return;
  const auto refused = [&](index_t capacity, const channel_options& options, std::initializer_list<std::string> parts) {
    check_parts(failure_of<argument_error>([&] { (void)m->allocate_channel<float>(capacity, options); }), parts);
  };
  refused(-1, {}, {"machine::allocate_channel: capacity = -1", "must be from 0 to"});
  refused(index_t{1} << 50, {}, {"capacity = 1125899906842624", "2 slots of 1 lanes"});
  refused(4, {.slots = 0}, {"slots = 0", "must be from 1 to"});
  refused(4, {.slots = (1 << 20) + 1}, {"slots = 1048577", "must be from 1 to 1048576"});
  refused(4, {.lanes = -3}, {"lanes = -3", "must be from 1 to"});
  const symmetric_channel<float> none;
  check_parts(failure_of<argument_error>([&] { (void)none.handle(); }), {"allocate it again"});
  check_usable(*m);
}

template <class Kernel>
void check_refused(const Kernel& make, std::initializer_list<std::string> parts) {
  auto m = test_machine(2);
  if (!m) return;
  for (const protocol how : {protocol::automatic, protocol::packets, protocol::stores}) {
    const auto owner = m->allocate_channel<int>(8, {.how = how});
    const std::string text = failure_of<range_error>([&] { m->run(1, make(owner.handle())); });
    check_parts(text, {"channel_kernels.cpp:"});
    check_parts(text, parts);
    check_usable(*m);
  }
}

struct sends {
  channel<int> c;
  index_t n;
  std::uint64_t number;
  STARLING_HD void operator()(block& b) const {
    b.send(c, [](index_t i) { return static_cast<int>(i); }, n, number, 1 - b.pe());
  }
};

struct receives {
  channel<int> c;
  index_t n;
  std::uint64_t number;
  bool each;
  STARLING_HD void operator()(block& b) const {
    if (each)
      b.receive_each(c, n, number, 1 - b.pe(), [](index_t, int) {});
    else
      (void)b.receive(c, n, number, 1 - b.pe());
  }
};

TEST_CASE("messages that a channel cannot carry") {
  check_refused([](const channel<int>& c) { return sends{c, 9, 3}; },
                {"channel at", "message 3 has 9 elements", "carries 0 to 8", "larger capacity"});
  check_refused([](const channel<int>& c) { return sends{c, -1, 1}; }, {"message 1 has -1 elements", "carries 0 to 8"});
  check_refused([](const channel<int>& c) { return sends{c, 1, 0}; }, {"message number 0", "numbered from 1"});
  for (const bool each : {false, true}) {
    check_refused([=](const channel<int>& c) { return receives{c, 9, 7, each}; },
                  {"message 7 has 9 elements", "carries 0 to 8"});
    check_refused([=](const channel<int>& c) { return receives{c, 4, 0, each}; }, {"message number 0"});
  }
}

TEST_CASE("PEs that do not exist") {
  auto m = test_machine(2);
  if (!m) return;
  const auto owner = m->allocate_channel<int>(8);
  const channel<int> c = owner.handle();
  const std::string parts[] = {
      failure_of<range_error>([&] {
        m->run(1, STARLING_KERNEL(block & b) { b.send(c, [](index_t i) { return static_cast<int>(i); }, 3, 1, 2); });
      }),
      failure_of<range_error>([&] { m->run(1, STARLING_KERNEL(block & b) { b.give_credit(c, 1, -1); }); }),
      failure_of<range_error>([&] { m->run(1, STARLING_KERNEL(block & b) { b.await_credit(c, 9, 7); }); })};
  for (const std::string& text : parts) check_parts(text, {"of a machine with 2", "numbered from 0 to 1"});
  check_usable(*m);
}

TEST_CASE("a message that is never sent is a stall that names the sender") {
  auto m = test_machine(2);
  if (!m) return;
  for (const protocol how : {protocol::packets, protocol::stores}) {
    const auto owner = m->allocate_channel<int>(8, {.how = how});
    const channel<int> c = owner.handle();
    const std::string text = failure_of<stall_error>([&] {
      m->run(1,
             STARLING_KERNEL(block & b) {
               if (b.pe() == 0) (void)b.receive(c, 5, 1, 1);
             },
             {.deadline = 0.1});
    });
    check_parts(text, {"PE 0 block 0", "PE 1", "channel_kernels.cpp:"});
    check_usable(*m);
  }
}

}  // namespace
}  // namespace starling::test::channel_tests
