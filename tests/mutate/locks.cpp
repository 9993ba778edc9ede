// What locks and waits for words promise, relied on by every block: one at a time, in order, and what was written
// before.
#include "starling/shmem/lock.hpp"
#include "starling/shmem/wait.hpp"
#include "trial.hpp"

namespace {

namespace shmem = st::shmem;

// Data of the holder in its own memory and at another PE; the next holder reads both. `tries`: takes the lock by
// test_lock.
void handed_on(st::machine& m, int blocks, bool tries) {
  auto owner = shmem::make_lock(m, blocks, m.size() - 1);
  const shmem::lock lock = owner.handle();
  auto words = trial::zeroed<int>(m, 3);
  auto mine = trial::zeroed<int>(m, blocks);
  auto insides = trial::zeroed<int>(m, 1);
  const auto word = words.data();
  const auto source = mine.data();
  const auto inside = insides.data();
  m.run(
      blocks, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        for (int round = 0; round < 3; ++round) {
          if (tries && round == 1)
            while (shmem::test_lock(b, lock) != 0) {
            }
          else
            shmem::set_lock(b, lock);
          v.same(b.atomic_fetch_add(inside, 1, 0), 0);
          const int last = b.g(word, 0);
          v.same(b.g(word + 1, 1), 10 * last);
          int* out = source.on(b.pe()) + b.index();
          *out = 10 * (last + 1);
          b.p(word, last + 1, 0);
          b.put_nbi(word + 1, out, 1, 1);
          v.same(b.atomic_fetch_add(inside, -1, 0), 1);
          shmem::clear_lock(b, lock);
        }
        v.end(b);
      });
  int count = 0;
  m.copy(&count, word.on(0), sizeof count);
  if (count != 3 * blocks * m.size()) throw trial::wrong_result(st::message("counted to ", count));
}

// One block holds the lock until the others stand in the queue, each after the one before.
void in_order(st::machine& m) {
  auto owner = shmem::make_lock(m, 1);
  const shmem::lock lock = owner.handle();
  auto turns = trial::zeroed<int>(m, 1);
  const auto turn = turns.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const auto stands = [&](int pe) {
          while (b.atomic_fetch(lock.tail(), lock.home()) != lock.number_of(pe, 0)) {
          }
        };
        if (b.pe() > 0) stands(b.pe() - 1);
        shmem::set_lock(b, lock);
        if (b.pe() == 0) stands(b.n_pes() - 1);
        v.same(b.g(turn, 0), b.pe());
        b.p(turn, b.pe() + 1, 0);
        shmem::clear_lock(b, lock);
        v.end(b);
      });
}

// Words of both signs, put, changed and waited for in every form.
void words(st::machine& m) {
  auto flags = trial::zeroed<std::int64_t>(m, 4);
  auto datas = m.allocate<int>(4);
  auto numbers = trial::zeroed<st::index_t>(m, 4);
  auto seens = trial::zeroed<int>(m, 4);
  const auto flag = flags.data();
  const auto data = datas.data();
  const auto number = numbers.data();
  const auto seen = seens.data();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        trial::verdict v;
        const int other = 1 - b.pe();
        for (int i = 3; i >= 0; --i) {
          b.p(data + i, 70 + i, other);
          b.fence();
          b.p(flag + i, -1 - i, other);
        }
        shmem::wait_until(b, flag + 3, st::compare::lt, -3, other);
        v.same(data.on(b.pe())[3], 73);
        v.same(shmem::test(b, flag + 3, st::compare::gt, -4), false);
        int* status = seen.on(b.pe());
        for (int left = 4; left > 0;) {
          st::index_t* found = number.on(b.pe());
          const auto n = shmem::wait_until_some(b, flag, 4, found, status, st::compare::le, -1, other);
          for (st::index_t k = 0; k < n; ++k) {
            v.same(data.on(b.pe())[found[k]], 70 + static_cast<int>(found[k]));
            v.same(status[found[k]]++, 0);
          }
          left -= static_cast<int>(n);
        }
        const std::int64_t wanted[] = {-1, -2, -3, -4};
        shmem::wait_until_all_vector(b, flag, 4, nullptr, st::compare::eq, wanted, other);
        v.same(shmem::wait_until_any(b, flag, 4, status, st::compare::eq, -1), st::no_index);
        v.end(b);
      });
}

}  // namespace

int main(int argc, char** argv) {
  return trial::all(argc, argv,
                    {{"a lock with 3 PEs", 3, [](st::machine& m) { handed_on(m, 1, false); }},
                     {"a lock with 2 blocks of 2 PEs", 2, [](st::machine& m) { handed_on(m, 2, false); }},
                     {"a lock that is tried", 2, [](st::machine& m) { handed_on(m, 2, true); }},
                     {"the order of a lock", 4, in_order},
                     {"words", 2, words}});
}
