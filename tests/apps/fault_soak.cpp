// Random faults under random programs, for STARLING_SOAK_SECONDS (2 without it): every run ends, with the right result
// or an error that the faults explain, and leaves memory, threads and machine as they were. A watchdog looks for hangs.
// STARLING_TEST_SEED repeats a soak.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <random>
#include <thread>

#include "machine/fault_rules.hpp"
#include "stencil/solver.hpp"
#include "support/faults.hpp"
#include "support/random.hpp"

namespace starling::test {
namespace {

using seconds = std::chrono::duration<double>;
using clock = std::chrono::steady_clock;

double soak_seconds() {
  const char* text = std::getenv("STARLING_SOAK_SECONDS");
  return text == nullptr ? 2 : std::stod(text);
}

constexpr double hasty = 0.1;   // the deadline of a run that may stall
constexpr double patient = 60;  // of one that is not to
constexpr double slack = 60;    // for what a run does besides waiting, under a sanitizer on a busy machine too

// Ends the process when work that it was told of does not end in time: what hangs cannot be joined.
class watchdog {
 public:
  watchdog() : worker_([this] { watch(); }) {}
  ~watchdog() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }

  // Runs `work`; it must end within `limit` seconds.
  template <class Work>
  void over(double limit, std::string what, const Work& work) {
    set(clock::now() + std::chrono::duration_cast<clock::duration>(seconds(limit)), std::move(what));
    try {
      work();
    } catch (...) {
      set(clock::time_point::max(), {});
      throw;
    }
    set(clock::time_point::max(), {});
  }

 private:
  void set(clock::time_point limit, std::string what) {
    const std::lock_guard lock(mutex_);
    limit_ = limit;
    what_ = std::move(what);
    changed_.notify_all();
  }
  void watch() {
    std::unique_lock lock(mutex_);
    while (!closing_) {
      if (limit_ == clock::time_point::max())
        changed_.wait(lock);
      else if (changed_.wait_until(lock, limit_) == std::cv_status::timeout && clock::now() >= limit_) {
        std::fprintf(stderr, "HANG: %s\n", what_.c_str());
        std::_Exit(3);
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  clock::time_point limit_ = clock::time_point::max();
  std::string what_;
  bool closing_ = false;
  std::thread worker_;
};

fault draw_fault(random& r, int pes) {
  fault_selector at;
  if (r.below(4) != 0) at.pe = static_cast<int>(r.below(pes));
  if (r.below(4) == 0) at.block = static_cast<int>(r.below(2));
  at.nth = 1 + r.below(60);
  at.times = r.below(4);  // 0: for ever
  at.calls = static_cast<fault_calls>(r.below(4));
  const bool long_pause = r.below(3) == 0;
  if (long_pause) at.times = 1;
  switch (r.below(6)) {
    case 0:
      return drop_signal{at};
    case 1:
      // A pause is cut short by the end of the program only: by blocks that wait.
      return long_pause ? delay_signal{at, 3 * hasty} : delay_signal{at, 0.0005};
    case 2:
      return corrupt_epoch{at, std::uint64_t{1} << r.below(64)};
    case 3:
      return kill_block{at};
    case 4:
      return long_pause && at.pe != any_pe && pes > 1 ? slow_pe{at, 1.5 * hasty} : slow_pe{at, 0.00005};
    default:
      return fail_allocation{1 + r.below(8), r.below(3)};
  }
}

std::string describe(const fault_plan& plan) {
  std::string all;
  for (const fault& f : plan.faults) {
    all += message(all.empty() ? "" : "; ", name(f));
    if (const fault_selector* s = selector_of(f))
      all += message(" pe ", s->pe, " block ", s->block, " nth ", s->nth, " times ", s->times, " calls ",
                     static_cast<int>(s->calls));
  }
  return all;
}

// One of the programs whose results are known; checks them when the program succeeds.
class drawn_program {
 public:
  explicit drawn_program(random& r)
      : which_(r.below(4)),
        rounds_(static_cast<int>(1 + r.below(30))),
        how_(static_cast<stencil::variant>(r.below(4))) {
    for (float& x : u_) x = static_cast<float>(r.real());
  }

  std::string text() const {
    constexpr const char* names[] = {"ring", "halo", "sums", "stencil"};
    return message(names[which_], " of ", rounds_, " rounds", which_ == 3 ? stencil::name(how_) : "");
  }

  void run(machine& m, double deadline) const {
    if (which_ == 0) run_and_check<ring>(m, deadline);
    if (which_ == 1) run_and_check<halo>(m, deadline);
    if (which_ == 2) run_and_check<sums>(m, deadline);
    if (which_ != 3) return;
    const std::vector<float> got = stepped(m, how_, deadline);
    machine healthy = machine::host(1);
    CHECK(got == stepped(healthy, stencil::variant::cpu_free, patient));
  }

 private:
  template <class Program>
  void run_and_check(machine& m, double deadline) const {
    Program p(m, rounds_);
    p.run(deadline);
    p.check_result();
  }

  std::vector<float> stepped(machine& m, stencil::variant how, double deadline) const {
    stencil::problem<float> p;
    p.shape = {16, 20};
    p.coefficients = stencil::jacobi_coefficients<float>(2);
    stencil::solver<float> s(m, p);
    s.load(u_.data());
    s.advance({.how = how, .steps = rounds_, .deadline = deadline});
    std::vector<float> got(u_.size());
    s.store(got.data());
    return got;
  }

  index_t which_;
  int rounds_;
  stencil::variant how_;
  std::vector<float> u_ = std::vector<float>(16 * 20);
};

template <class Fault>
bool has(const fault_plan& plan) {
  for (const fault& f : plan.faults)
    if (std::holds_alternative<Fault>(f)) return true;
  return false;
}

// What came of a run; anything but the outcomes named here fails the test.
std::string outcome(machine& m, const drawn_program& p, const fault_plan& plan) {
  try {
    p.run(m, hasty);
    return "right result";
  } catch (const stall_error& e) {
    if (!e.injected().empty()) return "stall_error";
    // On a busy machine a short deadline may pass without a fault.
    CHECK(m.faults_fired().empty());
    m.inject({});
    p.run(m, patient);
    return "short deadline";
  } catch (const fault_error& e) {
    check_parts(e.what(), {"injected fault: kill_block"});
    CHECK(has<kill_block>(plan));
    return "fault_error";
  } catch (const memory_error& e) {
    check_parts(e.what(), {"injected fault"});
    CHECK(has<fail_allocation>(plan));
    return "memory_error";
  }
}

TEST_CASE("random faults under random programs: no run hangs, and each leaves the machine as it was") {
  if (skipped_on_gpus("inject faults")) return;
  random r(std::random_device{}());
  INFO("STARLING_TEST_SEED=", r.seed);
  watchdog dog;
  std::map<std::string, int> outcomes;
  int runs = 0;
  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(seconds(soak_seconds()));
  while (clock::now() < end) {
    const int pes = static_cast<int>(1 + r.below(4));
    machine m = machine::host(pes);
    surroundings around(m);
    for (int again = 0; again < 8 && clock::now() < end; ++again) {
      fault_plan plan;
      for (index_t n = 1 + r.below(3); n > 0; --n) plan.faults.push_back(draw_fault(r, pes));
      const drawn_program p(r);
      const std::string what =
          message("seed ", r.seed, ", run ", runs, ": ", p.text(), " on ", pes, " PEs: ", describe(plan));
      INFO(what);
      dog.over(hasty + patient + slack, what, [&] {
        m.inject(plan);
        ++outcomes[outcome(m, p, plan)];
        around.remove_and_check_restored();
      });
      ++runs;
    }
  }
  std::string counts;
  for (const auto& [name, n] : outcomes) counts += message(", ", n, " ", name);
  MESSAGE(runs << " runs, 0 hangs" << counts);
  CHECK(runs > 0);
}

}  // namespace
}  // namespace starling::test
