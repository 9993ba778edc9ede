// The wait-for graph, its cycle, and the text of a stall, from reports made by hand.
#include "starling/machine/stall_error.hpp"

#include <doctest/doctest.h>

#include "support/failure.hpp"

namespace starling::test::stall_error_tests {
namespace {

block_report blocked(int pe, int block, operation op, int peer, block_state state = block_state::waiting) {
  block_report r;
  r.pe = pe;
  r.block = block;
  r.state = state;
  r.op = op;
  r.peer = peer;
  set_place(r, {"/home/me/kernel.cpp", 10 * pe + block});
  return r;
}

block_report with_state(int pe, int block, block_state state) {
  block_report r;
  r.pe = pe;
  r.block = block;
  r.state = state;
  return r;
}

using ids = std::vector<block_id>;

TEST_CASE("a wait with a known sender waits for the blocks of that PE") {
  const std::vector<block_report> all = {
      blocked(0, 0, operation::wait, 1),
      with_state(1, 0, block_state::running),
      with_state(1, 1, block_state::finished),
      blocked(1, 2, operation::wait, any_pe),
  };
  // A finished block cannot raise the signal any more.
  CHECK(waits_for(all, all[0]) == ids{{1, 0}, {1, 2}});
  CHECK(waits_for(all, all[1]).empty());
  CHECK(waits_for(all, all[3]).empty());
  CHECK(find_cycle(all).empty());
}

TEST_CASE("a wait for the own PE is for its other blocks") {
  const std::vector<block_report> all = {blocked(0, 0, operation::wait, 0), with_state(0, 1, block_state::running)};
  CHECK(waits_for(all, all[0]) == ids{{0, 1}});
}

TEST_CASE("two PEs that wait for each other are a cycle") {
  const std::vector<block_report> all = {blocked(0, 0, operation::wait, 1), blocked(1, 0, operation::wait, 0)};
  CHECK(find_cycle(all) == ids{{0, 0}, {1, 0}});
}

TEST_CASE("a ring of four PEs is a cycle of four, each block once") {
  std::vector<block_report> all;
  for (int pe = 0; pe < 4; ++pe) all.push_back(blocked(pe, 0, operation::wait, (pe + 1) % 4));
  CHECK(find_cycle(all) == ids{{0, 0}, {1, 0}, {2, 0}, {3, 0}});
}

TEST_CASE("a block that waits for a cycle is not part of it") {
  const std::vector<block_report> all = {blocked(0, 0, operation::wait, 1), blocked(1, 0, operation::wait, 2),
                                         blocked(2, 0, operation::wait, 1)};
  CHECK(find_cycle(all) == ids{{1, 0}, {2, 0}});
}

TEST_CASE("a chain that ends in a running or finished block is no cycle") {
  CHECK(find_cycle({blocked(0, 0, operation::wait, 1), blocked(1, 0, operation::wait, 2),
                    with_state(2, 0, block_state::running)})
            .empty());
  CHECK(find_cycle({blocked(0, 0, operation::wait, 1), with_state(1, 0, block_state::finished)}).empty());
}

TEST_CASE("sync_pe waits for the blocks of its PE that are elsewhere") {
  const std::vector<block_report> all = {blocked(0, 0, operation::sync_pe, 0), blocked(0, 1, operation::sync_pe, 0),
                                         blocked(0, 2, operation::wait, 0), with_state(0, 3, block_state::finished),
                                         blocked(1, 0, operation::wait, 0)};
  CHECK(waits_for(all, all[0]) == ids{{0, 2}, {0, 3}});
  CHECK(find_cycle(all) == ids{{0, 0}, {0, 2}});
}

TEST_CASE("in a machine-wide barrier blocks wait for block 0, and blocks 0 for each other") {
  const std::vector<block_report> all = {blocked(0, 0, operation::sync_all, 1), blocked(0, 1, operation::sync_all, 0),
                                         blocked(1, 0, operation::wait, 0), with_state(1, 1, block_state::running)};
  CHECK(waits_for(all, all[0]) == ids{{1, 0}});
  CHECK(waits_for(all, all[1]) == ids{{0, 0}});
  CHECK(find_cycle(all) == ids{{0, 0}, {1, 0}});
}

TEST_CASE("block 0 of a machine-wide barrier waits for the blocks of its PE that have not come") {
  const std::vector<block_report> all = {blocked(0, 0, operation::all_reduce, 0),
                                         blocked(0, 1, operation::all_reduce, 0), blocked(0, 2, operation::wait, 0)};
  CHECK(waits_for(all, all[0]) == ids{{0, 2}});
  CHECK(find_cycle(all) == ids{{0, 0}, {0, 2}});
}

TEST_CASE("the text says where, what, who, and what to do") {
  std::vector<block_report> all = {blocked(0, 0, operation::wait, 1, block_state::expired),
                                   blocked(1, 0, operation::wait, 0)};
  all[0].role = 0;
  all[0].how = compare::ge;
  all[0].wanted = 7;
  all[0].seen = 5;
  all[0].signal_offset = 0x1f00;
  all[1].role = 1;
  const stall_error e(all, {"north", "south"}, 0.25);
  CHECK(e.reports().size() == 2);
  CHECK(e.reports()[1].peer == 0);
  CHECK(e.cycle() == ids{{0, 0}, {1, 0}});
  check_parts(
      e.what(),
      {"deadline of 0.25 s", "first: PE 0 block 0 (north): deadline passed in wait at /home/me/kernel.cpp:0",
       "signal +0x1f00 >= 7 wanted, 5 seen, from PE 1", "wait-for cycle: PE 0 block 0 -> PE 1 block 0 -> PE 0 block 0",
       "PE 1 block 0 (south): waiting in wait", "next:", "launch_options::deadline", "STARLING_DEADLINE"});
}

TEST_CASE("the text says how to name a sender that is not known, and that there is no cycle") {
  const stall_error e({blocked(0, 0, operation::wait, any_pe, block_state::expired)}, {"all"}, 1);
  CHECK(e.cycle().empty());
  check_parts(e.what(), {"no wait-for cycle found", "pass the PE as last argument of wait()"});
}

TEST_CASE("blocks of a PE that are in the same share a line of the text") {
  std::vector<block_report> all;
  for (int b = 0; b < 300; ++b)
    all.push_back(b == 2 || b == 150 ? blocked(1, b, operation::sync_pe, any_pe, block_state::waiting)
                                     : blocked(1, b, operation::wait, 2, block_state::expired));
  for (int b = 0; b < 3; ++b) all.push_back(blocked(2, b, operation::wait, 1, block_state::expired));
  for (block_report& r : all) r.line = 7;
  const std::string text = stall_error(all, {"all"}, 1).what();
  check_parts(text, {"    PE 1 blocks 0, 1, 3-149, 151-299 (all): deadline passed in wait at ",
                     "    PE 1 blocks 2, 150 (all): waiting in sync_pe at ", "    PE 2 blocks 0-2 (all): deadline "});
  CHECK(text.find("more lines") == std::string::npos);
}

TEST_CASE("the text of many blocks that differ is cut, the reports are not") {
  std::vector<block_report> all;
  for (int b = 0; b < 100; ++b) {
    all.push_back(blocked(0, b, operation::wait, any_pe, block_state::expired));
    all.back().wanted = static_cast<std::uint64_t>(1000 + b);
  }
  const stall_error e(all, {"all"}, 1);
  CHECK(e.reports().size() == 100);
  check_parts(e.what(), {"PE 0 block 63", "... and 36 more lines"});
  CHECK(std::string(e.what()).find("PE 0 block 64") == std::string::npos);
}

TEST_CASE("blocks that came too late are in no cycle, and the text says what that means") {
  const stall_error e(
      {blocked(0, 0, operation::wait, 1, block_state::expired), blocked(1, 0, operation::wait, 0, block_state::late)},
      {"all"}, 1);
  CHECK(e.cycle().empty());
  check_parts(e.what(), {"PE 1 block 0 (all): late in wait at ", "from PE 0", "had not begun"});
}

TEST_CASE("a stall can be caught as an error of Starling") { CHECK_THROWS_AS(throw stall_error({}, {}, 1), error); }

}  // namespace
}  // namespace starling::test::stall_error_tests
