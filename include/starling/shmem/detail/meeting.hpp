// meeting: one collective of a team as one of its groups makes it, in one or more rounds. For the collectives alone.
//
// Rounds. All members number the rounds alike. In round r a member may write to another's packets and slots of parity
// r, and the other may still read those of round r - 1. So before it writes in round r a member must know that all
// others have left round r - 2, that is, have entered round r - 1. It does after a round in which each member hears of
// each
// (`known` is that round); else it waits for their signals `entered`, which members raise in every other round.
//
// Signals. entered(i) of a member is the last round that member i has announced to it, and, where i has written to
// that member, that the data of this round is there. Packets say both by themselves. There are two such words: rounds
// that order other memory have one of their own, since of a word only the last value is seen. A member's word of
// itself counts what it has put to its own PE.
//
// Order. A collective starts and ends with a barrier of its group: it sees what all threads of the group have written
// before, and all of them see its result. Of other memory sync alone orders anything for other members.
#pragma once

#include "starling/device/channel.hpp"
#include "starling/device/group.hpp"
#include "starling/device/team_report.hpp"
#include "starling/shmem/team.hpp"

namespace starling::shmem::detail {

// n elements from this PE to dest at a member. Strides in elements.
template <class T>
struct piece {
  sym<T> dest;
  const T* source;
  index_t n;
  index_t dest_stride = 1;
  index_t source_stride = 1;
};

template <class Group>
class meeting {
 public:
  // Ends the program when the caller has no part in the team.
  STARLING_HD meeting(const Group& g, const team& t, const collective_call& call)
      : g_(g), t_(t), op_(call.op), at_(call.at), me_(t.number_of(g.pe())) {
    if (!t) refuse({team_defect::no_team, 0, 0, 0});
    if (me_ < 0) refuse({team_defect::outside, g.pe(), unsigned_of(t.size()), unsigned_of(t.start())});
    if (g.index() >= t.blocks()) refuse({team_defect::no_block, g.index(), unsigned_of(t.blocks()), 0});
    progress_ = t.progress(g.index()).on(g.pe());
    if constexpr (!target::on_gpu) {
      collective_call mine = call;
      mine.meeting = t.progress(g.index()).on(t.start());
      g.port().collective(mine);
    }
    round_ = progress_->round;
    known_ = progress_->known;
    if constexpr (!target::on_gpu) kept_ = progress_->kept;
    g.end_if_absent(op_, at_);
  }
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;

  STARLING_HD int me() const { return me_; }
  STARLING_HD int size() const { return t_.size(); }
  STARLING_HD const Group& group() const { return g_; }
  STARLING_HD bool leads() const { return g_.member() == 0; }
  STARLING_HD std::uint64_t round() const { return round_; }

  // Ends the program, for every thread of the group.
  STARLING_HD void refuse(const team_fault& f) const {
    if constexpr (target::on_gpu) {
      if (leads()) gpu::refuse_fault(g_.state(), g_.index(), op_, f, at_);
      g_.sync();
      g_.give_up();
    } else {
      refuse_team(g_.pe(), g_.index(), op_, f, at_);
    }
  }

  // ---- rounds ----

  // Enters the next round.
  STARLING_HD void next() {
    ++round_;
    if constexpr (target::on_gpu) renew_packets();
    if (known_ + 1 >= round_) return;
    await(round_ - 1, 0, size(), false);
    known_ = round_ - 1;
  }
  // All members have been heard of in this round.
  STARLING_HD void heard_all() { known_ = round_; }

  // Ends the collective.
  STARLING_HD void end() const {
    if (leads()) *progress_ = {round_, known_, kept_};
    g_.end_if_absent(op_, at_);
  }

  // ---- signals and what they announce ----

  // Writes to(i) to each other member i, then raises `entered` there. `orders`: who sees that sees too what the group
  // wrote before to its own PE's memory; else, in check mode, only what it has read is known to have been read. On
  // return the sources are free.
  template <class T, class To>
  STARLING_HD void put(const To& to, bool orders = false) const {
    [[maybe_unused]] bool by_card = false;
    each_other([&](int i) {
      const piece<T> p = to(i);
      const int pe = t_.pe(i);
      const sym<signal> here = t_.entered(g_.index(), orders, me_);
      const index_t bytes = p.n * static_cast<index_t>(sizeof(T));
      const trace_span span(g_, trace_operation::put_signal, pe, bytes, here, round_);
      if constexpr (target::on_gpu) {
        if (g_.behind_card(pe)) {
          g_.put_by_card(p.dest.on(pe), p.source, p.dest_stride, p.source_stride, p.n, pe, at_);
          by_card = true;
        } else {
          copy(p, p.dest.on(pe));
        }
      } else
        g_.port().put_signal(transfer_of(p, pe), announcement(pe, round_, orders));
    });
    if constexpr (target::on_gpu) {
      arrive_by_threads(orders);
      if (by_card) g_.quiet_of_card(at_);
    }
  }

  // The same of nothing: this PE is in the round.
  STARLING_HD void arrive(bool orders = false) const {
    if constexpr (target::on_gpu)
      arrive_by_threads(orders);
    else
      each_other([&](int i) { g_.port().update(announcement(t_.pe(i), round_, orders)); });
  }

  // Waits until the members `first` to `last` - 1 have arrived in `round`, and what they write in it is
  // there. `orders`: as they announced it.
  STARLING_HD void await(std::uint64_t round, int first, int last, bool orders) const {
    bool failed = false;
    for (int i = first + g_.member(); i < last; i += g_.members()) {
      if (i == me_) continue;
      const sym<signal> word = t_.entered(g_.index(), orders, i);
      const trace_span span(g_, trace_operation::wait, t_.pe(i), 1, word, round);
      const wait_request request{word.on(g_.pe()), compare::ge, round, t_.pe(i), op_, at_};
      if constexpr (target::on_gpu)
        failed = failed || !gpu::wait(g_.state(), g_.index(), request);
      else
        g_.own_port().wait(request);
    }
    g_.end_if_failed(failed, op_, at_);
  }
  STARLING_HD void await_all(bool orders = false) {
    await(round_, 0, size(), orders);
    heard_all();
  }

  // The working memory of this PE that is member i's in this round, and where it is written from.
  template <class T>
  STARLING_HD sym<T> slot(int from) const {
    const sym<std::byte> s = t_.slot(g_.index(), round_, from);
    return {reinterpret_cast<T*>(s.on(0)), s.stride_bytes()};
  }
  template <class T>
  STARLING_HD index_t slot_size() const {
    static_assert(sizeof(T) <= 64, "a team's working memory takes elements of up to 64 bytes");
    return t_.slot_bytes() / static_cast<index_t>(sizeof(T));
  }

  // ---- packets ----

  // Sends word(i, k) as word k of the message to each other member i.
  template <class Word>
  STARLING_HD void put_words(int words, const Word& word) const {
    const starling::thread one(g_);
    for (int n = g_.member(); n < size() * words; n += g_.members()) {
      const int i = n / words;
      const int k = n % words;
      if (i == me_) continue;
      one.template put_packets<std::uint64_t>(
          packet_at(me_, k), [&](index_t) { return content{{word(i, k)}}; }, 1, round_, t_.pe(i), at_);
    }
  }

  // Word k of the message of another member; the calling thread alone waits. take_words: of N of them at once, those
  // for which wanted(j): word(j) of member from(j), handed to use(j, word).
  STARLING_HD std::uint64_t take_word(int from, int k) const {
    return starling::thread(g_)
        .template take_packet<std::uint64_t>(packet_at(from, k), round_, t_.pe(from), at_)
        .element[0];
  }
  template <int N, class Wanted, class From, class Index, class Use>
  STARLING_HD void take_words(const Wanted& wanted, const From& from, const Index& word, const Use& use) const {
    starling::thread(g_).template take_packets<std::uint64_t, N>(
        wanted, [&](auto j) { return packet_at(from(j), word(j)); }, round_, [&](auto j) { return t_.pe(from(j)); },
        [&](auto j, const content& c) { use(j, c.element[0]); }, at_);
  }

  // ---- this PE's own destination ----

  // Element k of dest becomes f(k), for k < n. On a virtual device through the port, which knows what memory there is.
  template <class T, class F>
  STARLING_HD void keep(sym<T> dest, index_t n, const F& f) {
    if constexpr (target::on_gpu) {
      T* to = dest.on(g_.pe());
      for (index_t k = g_.member(); k < n; k += g_.members()) to[k] = f(k);
    } else {
      T* staged = reinterpret_cast<T*>(g_.port().staging(static_cast<std::size_t>(n) * sizeof(T)));
      for (index_t k = g_.member(); k < n; k += g_.members()) staged[k] = f(k);
      keep(piece<T>{dest, staged, n});
    }
  }
  template <class T>
  STARLING_HD void keep(const piece<T>& p) {
    if (p.n == 0 || p.source == p.dest.on(g_.pe())) return;
    if constexpr (target::on_gpu) {
      copy(p, p.dest.on(g_.pe()));
    } else {
      g_.port().put_signal(transfer_of(p, g_.pe()), announcement(g_.pe(), ++kept_, false));
      g_.port().wait({t_.entered(g_.index(), false, me_).on(g_.pe()), compare::ge, kept_, g_.pe(), op_, at_});
    }
  }

 private:
  using content = packet_content<std::uint64_t>;

  STARLING_HD static std::uint64_t unsigned_of(int n) { return static_cast<std::uint64_t>(n); }

  STARLING_HD sym<packet> packet_at(int from, int k) const { return t_.packets(g_.index(), round_, from) + k; }

  // From the next member on, so that not all write to the same one first.
  template <class F>
  STARLING_HD void each_other(const F& f) const {
    for (int i = me_ + 1; i < size(); ++i) f(i);
    for (int i = 0; i < me_; ++i) f(i);
  }

  template <class T>
  STARLING_HD void copy(const piece<T>& p, T* to) const {
    if (p.dest_stride == 1 && p.source_stride == 1)
      gpu::copy(g_.member(), g_.members(), to, p.source, p.n);
    else
      for (index_t k = g_.member(); k < p.n; k += g_.members()) to[k * p.dest_stride] = p.source[k * p.source_stride];
  }

  // Side by side: each release waits for what was stored before.
  STARLING_HD void arrive_by_threads(bool orders) const {
    g_.sync();
    for (int i = g_.member(); i < size(); i += g_.members())
      if (i != me_) g_.raise_signal_by_thread(t_.entered(g_.index(), orders, me_), round_, t_.pe(i), at_);
  }

  template <class T>
  transfer transfer_of(const piece<T>& p, int pe) const {
    transfer t;
    t.dest = p.dest.on(pe);
    t.source = p.source;
    t.count = p.n;
    t.element = sizeof(T);
    t.dest_stride = p.dest_stride;
    t.source_stride = p.source_stride;
    t.pe = pe;
    t.at = at_;
    return t;
  }
  signal_update announcement(int pe, std::uint64_t value, bool orders) const {
    signal_update s;
    s.target = t_.entered(g_.index(), orders, me_).on(pe);
    s.value = value;
    s.pe = pe;
    s.at = at_;
    s.orders = orders;
    return s;
  }

  // GPUs compare the lower halves of numbers. So that no packet of long ago looks like one of now, each member sets its
  // packets of the round before to that round's number, once in 2^31 rounds: nobody writes to them before it has heard
  // that this member is in the round after.
  STARLING_HD void renew_packets() const {
    const std::uint64_t last = round_ - 1;
    if (last < 2 || last >> 31 == (last - 2) >> 31) return;
    g_.end_if_absent(op_, at_);
    packet* packets = t_.packets(g_.index(), last, 0).on(g_.pe());
    for (int k = g_.member(); k < size() * packets_per_message; k += g_.members())
      target::store_numbered(packets + k, {0, last});
    target::fence_system();
    g_.sync();
  }

  const Group& g_;
  const team& t_;
  operation op_;
  where at_;
  int me_;
  team_progress* progress_ = nullptr;
  std::uint64_t round_ = 0;
  std::uint64_t known_ = 0;
  std::uint64_t kept_ = 0;
};

}  // namespace starling::shmem::detail
