// region_handle<T>: what kernels do with a region. Plain data, made by region::handle(). Every call is a collective of
// the block.
//
//   const auto old = h.await(b, e - 1);                                   // all of epoch e - 1, from all PEs
//   h.each_tile(b, e, [&](st::tile t, st::tracked<float> next) {          // this block's tiles
//     b.for_each(t.range, [&](st::index_t i) { next(i) = f(old, i); });   // every element of each
//   });                                                                   // each committed when f returns
//
// Who sees what. An element stored through `next` is seen by blocks of its own PE, and of those PEs that subscribe to
// its chunk, after await of that epoch, and by nothing else. Elements of epoch e may be read until the block commits
// its tiles of epoch e + 1; with region_options::credits, until the PE has given credit for e.
#pragma once

#include "starling/region/flush.hpp"
#include "starling/region/tile.hpp"

namespace starling {

template <class T>
class region_handle {
 public:
  constexpr region_handle() = default;
  STARLING_HD region_handle(const region_state& s, sym<T> values, index_t pitch)
      : s_(s), values_(values), pitch_(pitch) {}

  STARLING_HD index_t size() const { return s_.size; }
  // The elements that this PE writes, and how many tiles of a mapping.
  STARLING_HD index_range part(const block& b) const {
    return {s_.bounds.on(b.pe())[b.pe()], s_.bounds.on(b.pe())[b.pe() + 1]};
  }
  STARLING_HD int tiles(const block& b, int mapping = 0) const {
    return s_.tile_at.on(b.pe())[mapping + 1] - s_.tile_at.on(b.pe())[mapping];
  }

  STARLING_HD static constexpr index_range whole() { return {-1, -1}; }

  // Waits, with a deadline, until this PE has all of epoch `epoch` that it subscribes to; of a part, which needs
  // region_options::credits, until it has the chunks that hold these elements.
  template <bool Checked = target::checked>
  STARLING_HD epoch_view<T, Checked> await(const block& b, std::uint64_t epoch, index_range elements = whole(),
                                           where at = where::current()) const {
    if (elements == whole()) {
      await_chunks(b, epoch, 0, static_cast<bool>(s_.got) ? *s_.n_got.on(b.pe()) : s_.chunks, at);
      elements = {0, s_.size};
    } else {
      await_part(b, epoch, elements, at);
    }
    return {b, s_, (values_ + s_.buffer_of(epoch) * pitch_).on(b.pe()), epoch, elements};
  }

  // The tiles of a mapping of this PE's part are distributed round-robin over the blocks of the caller's role, all of
  // which make this call. Calls f(tile, next) for each that is this block's; f stores every element of the tile through
  // next(i) = value, by whatever threads, or calls tile.unchanged(). When f returns the tile is committed.
  template <class F>
  STARLING_HD void each_tile(const block& b, std::uint64_t epoch, int mapping, const F& f,
                             where at = where::current()) const {
    if (epoch == 0) refuse(b, {region_defect::no_epoch, 0, 0, 0}, at);
    if (mapping < 0 || mapping >= s_.mappings)
      refuse(b, {region_defect::no_mapping, mapping, static_cast<std::uint64_t>(s_.mappings), 0}, at);
    const bool tracks = s_.sending != region_sending::untracked;
    if (!tracks && b.rank() == 0 && b.member() == 0) *s_.reached.on(b.pe()) = epoch;
    if (tracks && s_.credits) await_credits(b, epoch, at);
    write_tiles(b, epoch, s_.tile_at.on(b.pe())[mapping], s_.tile_at.on(b.pe())[mapping + 1], b.rank(), b.count(), f,
                at);
  }
  // The same of the tiles of all mappings, for kernels that distribute them otherwise, and are ordered by more than
  // credits: block `which` of `of`.
  template <class F>
  STARLING_HD void deal_tiles(const block& b, std::uint64_t epoch, int which, int of, const F& f,
                              where at = where::current()) const {
    write_tiles(b, epoch, 0, s_.tile_at.on(b.pe())[s_.mappings], which, of, f, at);
  }
  template <class F>
  STARLING_HD void each_tile(const block& b, std::uint64_t epoch, const F& f, where at = where::current()) const {
    each_tile(b, epoch, 0, f, at);
  }

  // f(i) for every element of a tile, whatever its mapping; as block::for_each.
  template <class F>
  STARLING_HD void for_each(const block& b, const tile& t, const F& f) const {
    for (int i = 0; i < t.count; ++i) b.for_each(t.ranges[i], f);
  }

  // With region_options::credits: the block has read what it wanted of epoch `epoch`. All blocks of one role call it on
  // every PE, for every epoch, one after the other. One that awaits nothing waits here for the others of its role, so
  // as to be no more than `buffers` epochs ahead.
  STARLING_HD void give_credit(const block& b, std::uint64_t epoch, where at = where::current()) const {
    if (!s_.credits) refuse(b, {region_defect::needs_credits, 0, 0, 0}, at);
    if (s_.sending == region_sending::untracked) return;
    b.sync();
    if (b.member() != 0) return;
    const thread one = b.thread();
    const auto buffers = static_cast<std::uint64_t>(s_.buffers);
    if (epoch >= buffers) one.wait(s_.credit + b.pe(), epoch - buffers + 1, b.pe(), at);
    if (!region_words::is_last(one, s_.given + s_.buffer_of(epoch), b.count(), at)) return;
    for (int k = 0; k < b.n_pes(); ++k) {
      const int to = (b.pe() + k) % b.n_pes();
      if (s_.reads(b.pe(), to, b.pe())) one.signal_set(s_.credit + b.pe(), epoch + 1, to, at);
    }
  }

  // Needs region_options::flushes. Tiles that the block has committed, also of chunks that are not ready, have come to
  // their subscribers on return; chunks are no more ready for that. What the block signals afterwards covers them.
  STARLING_HD void flush(const block& b, where at = where::current()) const {
    region_words::flush(b, s_, values_, pitch_, at);
  }
  // The block's calls of these names, after a flush.
  STARLING_HD void signal_set(const block& b, sym<signal> sig, std::uint64_t value, int pe,
                              where at = where::current()) const {
    flush(b, at);
    b.signal_set(sig, value, pe, at);
  }
  template <class U>
  STARLING_HD void put_signal(const block& b, sym<U> dest, const std::type_identity_t<U>* source, index_t n,
                              sym<signal> sig, std::uint64_t value, int pe, signal_op op = signal_op::set,
                              where at = where::current()) const {
    flush(b, at);
    b.put_signal(dest, source, n, sig, value, pe, op, at);
  }
  STARLING_HD void barrier_all(block& b, where at = where::current()) const {
    flush(b, at);
    b.barrier_all(at);
  }
  // Elements of an epoch that is not here as a whole: those of tiles whose block has flushed and then raised what the
  // caller has seen. Read as await's, and for as long.
  template <bool Checked = target::checked>
  STARLING_HD epoch_view<T, Checked> flushed(const block& b, std::uint64_t epoch, index_range elements) const {
    return {b, s_, (values_ + s_.buffer_of(epoch) * pitch_).on(b.pe()), epoch, elements};
  }

  // The last epoch that kernels of this PE have written and are over with. For launches in streams, whose arguments do
  // not change where they are recorded; programs count themselves.
  STARLING_HD std::uint64_t newest(const block& b) const { return *s_.newest.on(b.pe()); }

  // For programs.
  STARLING_HD const region_state& state() const { return s_; }
  STARLING_HD sym<T> values() const { return values_; }
  STARLING_HD index_t pitch() const { return pitch_; }

 private:
  STARLING_HD void refuse(const block& b, const region_fault& f, where at) const {
    region_words::refuse(b.thread(), f, at);
  }

  // Tiles from `first_tile` to `end_tile` of all of the part, of which the block takes its share.
  template <class F>
  STARLING_HD void write_tiles(const block& b, std::uint64_t epoch, int first_tile, int end_tile, int which, int of,
                               const F& f, where at) const {
    const bool tracks = s_.sending != region_sending::untracked;
    const int pe = b.pe();
    const sym<T> values = values_ + s_.buffer_of(epoch) * pitch_;
    for (int k = first_tile + which; k < end_tile; k += of) {
      const std::int32_t first = s_.range_at.on(pe)[k];
      bool kept = false;
      tile t{k - first_tile, {}, s_.ranges.on(pe) + first, s_.range_at.on(pe)[k + 1] - first, &kept};
      if (t.count == 1) t.range = t.ranges[0];
      if (tracks && s_.awaits_sent()) await_sent(b, k, epoch, at);
      write(b, values, t, epoch, f, at);
      if (!tracks) continue;
      const bool counts = b.warp().rank() == 0;
      region_words::commit_share chunks;
      if (counts) chunks.begin(s_, pe, k, b.warp());
      b.sync();
      if (!counts) continue;
      region_words::commit(b.thread(), s_, values_, pitch_, chunks, epoch, !kept, at);
      if (!s_.flushes && !s_.has_own_warps(b.n_pes())) continue;
      b.warp().sync();  // all its chunks are counted
      if (b.member() != 0) continue;
      region_words::hand_on_tile(b.thread(), s_, k, epoch, !kept, at);
      if (s_.flushes)
        region_words::note(b.thread(), s_.done + k,
                           epoch * region_words::most_blocks + static_cast<std::uint64_t>(b.index()), at);
    }
  }

  // Of the chunks that this PE gets, those with numbers from `first` to `end` in the list.
  STARLING_HD void await_chunks(const block& b, std::uint64_t epoch, int first, int end, where at) const {
    if (epoch == 0 || s_.sending == region_sending::untracked) return;
    const int pe = b.pe();
    const std::int32_t* got = static_cast<bool>(s_.got) ? s_.got.on(pe) : nullptr;
    const auto what = [&](int i) {
      const int chunk = got != nullptr ? got[first + i] : first + i;
      return awaited_signal{s_.arrived + chunk, s_.owner_of(pe, chunk)};
    };
    const std::uint64_t start = static_cast<bool>(s_.times) ? target::now_ns() : 0;
    b.wait_each(end - first, what, epoch, at);
    region_words::note_waited(b, s_, start, at);
    if (!static_cast<bool>(s_.hashes)) return;
    // Without credits, writers wait for those alone that go on to write: what others look at may be overwritten.
    if (!s_.credits && !commits(b)) return;
    const T* values = (values_ + s_.buffer_of(epoch) * pitch_).on(pe);
    for (int i = first; i < end; ++i) region_words::verify(b, s_, values, got != nullptr ? got[i] : i, epoch, at);
  }

  // Whether the block has a tile that writes anything, by whatever mapping it writes.
  STARLING_HD bool commits(const block& b) const {
    const std::int32_t* chunk_at = s_.tile_chunk_at.on(b.pe());
    for (int m = 0; m < s_.mappings; ++m) {
      int k = s_.tile_at.on(b.pe())[m] + b.rank();
      const int end = s_.tile_at.on(b.pe())[m + 1];
      while (k < end && chunk_at[k] == chunk_at[k + 1]) k += b.count();
      if (k >= end) return false;
    }
    return true;
  }

  // The chunks that hold some elements, all of which this PE must get.
  STARLING_HD void await_part(const block& b, std::uint64_t epoch, index_range elements, where at) const {
    const int pe = b.pe();
    if (!s_.credits) refuse(b, {region_defect::needs_credits, 0, 0, 0}, at);
    if (elements.begin < 0 || elements.end > s_.size)
      refuse(b,
             {region_defect::no_element, elements.begin < 0 ? elements.begin : elements.end,
              static_cast<std::uint64_t>(s_.size), 0},
             at);
    if (elements.empty()) return;
    int first = s_.chunk_of(pe, elements.begin);
    int last = s_.chunk_of(pe, elements.end - 1);
    for (int c = first; c <= last; ++c)  // those between of PEs without elements nobody gets
      if (!s_.gets(pe, c, pe) && !s_.elements_of_chunk(pe, c).empty())
        refuse(b, {region_defect::no_subscriber, c, 0, 0}, at);
    if (static_cast<bool>(s_.got)) {  // from here on numbers in the list of those that this PE gets
      const std::int32_t* got = s_.got.on(pe);
      int number = 0;
      while (got[number] < first) ++number;
      first = number;
      while (got[number] < last) ++number;
      last = number;
    }
    await_chunks(b, epoch, first, last + 1, at);
  }

  // Until all who get chunks of this PE have read the epoch that was in the buffer.
  STARLING_HD void await_credits(const block& b, std::uint64_t epoch, where at) const {
    const auto buffers = static_cast<std::uint64_t>(s_.buffers);
    if (epoch < buffers) return;
    const auto what = [&](int pe) {
      return awaited_signal{s_.credit + (s_.reads(b.pe(), b.pe(), pe) ? pe : b.pe()), pe};
    };
    b.wait_each(b.n_pes(), what, epoch - buffers + 1, at);
  }

  // Until the epoch that the tile's chunks held in this buffer is complete, and the agent has sent it: readers of parts
  // give credit for more than they have awaited.
  STARLING_HD void await_sent(const block& b, int tile, std::uint64_t epoch, where at) const {
    const auto buffers = static_cast<std::uint64_t>(s_.buffers);
    const int pe = b.pe();
    if (epoch <= buffers) return;
    const std::int32_t first = s_.tile_chunk_at.on(pe)[tile];
    const sym<signal> word = s_.has_agent() ? s_.sent : s_.arrived + s_.chunk_at.on(pe)[pe];
    const auto what = [&](int i) { return awaited_signal{word + s_.tile_chunks.on(pe)[first + i], pe}; };
    b.wait_each(s_.tile_chunk_at.on(pe)[tile + 1] - first, what, epoch - buffers, at);
  }

  // f, and with inline stores on a virtual device the puts to the subscribers.
  template <class F>
  STARLING_HD void write(const block& b, sym<T> values, const tile& t, std::uint64_t epoch, const F& f,
                         where at) const {
    T* host = s_.to_host() ? region_words::on_host<T>(s_, pitch_, epoch) : nullptr;
    if constexpr (target::checked) {
      region_words::stored_elements stored(t);
      f(t, tracked<T>(b, s_, values, host, &stored));
      stored.join(b, at);
      check_tile(b, t, stored, epoch, at);
    } else {
      f(t, tracked<T>(b, s_, values, host, nullptr));
    }
    const auto buffers = static_cast<std::uint64_t>(s_.buffers);
    if (*t.kept && epoch < buffers) refuse(b, {region_defect::kept_early, t.number, buffers, epoch}, at);
    if constexpr (!target::on_gpu)
      if (s_.stores_inline() && !*t.kept) put_tile(b, values, host, t, at);
  }

  // In check mode: all of the tile was stored, or nothing, and then it is what it was.
  void check_tile(const block& b, const tile& t, const region_words::stored_elements& stored, std::uint64_t epoch,
                  where at) const {
    if (!*t.kept) {
      if (const index_t i = stored.missing(); i >= 0) refuse(b, {region_defect::unwritten, i, epoch, 0}, at);
      return;
    }
    if (const index_t i = stored.found(); i >= 0) refuse(b, {region_defect::kept_stored, i, epoch, 0}, at);
    const auto buffers = static_cast<std::uint64_t>(s_.buffers);
    if (epoch < buffers) return;
    const auto in = [&](std::uint64_t e) { return (values_ + s_.buffer_of(e) * pitch_).on(b.pe()); };
    if (const index_t i = stored.different(in(epoch), in(epoch - 1)); i >= 0)
      refuse(b, {region_defect::kept_other, i, epoch - 1, epoch - buffers}, at);
  }

  void put_tile(const block& b, sym<T> values, T* host, const tile& t, where at) const {
    const int pe = b.pe();
    for (int i = 0; i < t.count; ++i)
      for (int c = s_.chunk_of(b.pe(), t.ranges[i].begin); c <= s_.chunk_of(b.pe(), t.ranges[i].end - 1); ++c) {
        const index_range all = s_.elements_of(pe, c - s_.chunk_at.on(pe)[pe]);
        const index_t begin = all.begin > t.ranges[i].begin ? all.begin : t.ranges[i].begin;
        const index_t end = all.end < t.ranges[i].end ? all.end : t.ranges[i].end;
        if (host != nullptr) region_words::put_to_host(b, host + begin, values.on(pe) + begin, end - begin, at);
        for (int k = 1; k < b.n_pes(); ++k) {
          const int to = (pe + k) % b.n_pes();
          if (s_.gets(pe, c, to)) b.put(values + begin, values.on(pe) + begin, end - begin, to, at);
        }
      }
  }

  region_state s_;
  sym<T> values_;
  index_t pitch_ = 0;
};

}  // namespace starling
