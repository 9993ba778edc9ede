// How a region is made: how its parts are cut into tiles, who gets them, and which agent sends them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "starling/base/index.hpp"

namespace starling {

// Who carries what kernels write to other PEs (PROACT, III-C).
enum class region_agent : std::int32_t {
  inline_stores,  // the blocks that write, as they write
  polling,        // blocks of their own, which send a chunk when all its tiles have been committed
  own_warp,       // one more warp of each block that writes, which sends the block's tiles
  launched,       // kernels that who completes a chunk launches
  copy_engine     // what the device has for copies: streams that wait for chunks, in the order of their numbers
};

inline constexpr region_agent region_agents[] = {region_agent::inline_stores, region_agent::polling,
                                                 region_agent::own_warp, region_agent::launched,
                                                 region_agent::copy_engine};

const char* name(region_agent a);

// How much of an epoch goes to other PEs. Everything but `all` is for measuring what the rest costs: with more than one
// PE values are wrong, those of other PEs being what region::load brought. Check mode refuses it.
enum class region_sending : std::int32_t {
  all,
  elide_stores,  // the whole protocol with its agent, but no byte of data
  track_only,    // commits are counted, and who completes a chunk raises its arrival everywhere; no agent
  untracked      // nothing is counted and await returns at once; barriers of the kernel must order the PE's own epochs
};

const char* name(region_sending s);

// Simulated links, for measuring what slower ones would cost: on every link an agent carries at most this rate, and
// raises arrival no earlier than the latency after the last byte. Zeros: links as they are.
struct paced {
  double bytes_per_second = 0;
  double latency_seconds = 0;

  bool any() const { return bytes_per_second != 0 || latency_seconds != 0; }
};

// Tiles: pieces of work of a part, numbered from 0, and the elements that each writes. Enumerated once, when the region
// is made; see region_mappings.
class region_mapping {
 public:
  // All ranges that each tile of the part `elements` of PE `pe` writes.
  using tiles = std::vector<std::vector<index_range>>;
  using function = std::function<tiles(int pe, index_range elements)>;

  // Consecutive tiles of `elements` elements, the last shorter.
  static region_mapping one_to_one(index_t elements);
  // So many tiles; tile t writes pieces t, t + tiles, t + 2 tiles, ... of `width` elements, as a grid-stride loop does.
  static region_mapping stride(int tiles, index_t width);
  // What f says.
  static region_mapping by(function f);

  tiles of(int pe, index_range elements) const { return tiles_of_(pe, elements); }

 private:
  explicit region_mapping(function f) : tiles_of_(std::move(f)) {}

  function tiles_of_;
};

// The mappings by which kernels write a region, numbered from 0: one, or a list. Together their tiles write each
// element of a part exactly once; a chunk is ready when the tiles of all of them that write it have been committed.
class region_mappings {
 public:
  region_mappings(region_mapping one) : all_{std::move(one)} {}
  region_mappings(std::initializer_list<region_mapping> all) : all_(all) {}
  explicit region_mappings(std::vector<region_mapping> all) : all_(std::move(all)) {}

  const std::vector<region_mapping>& all() const { return all_; }

 private:
  std::vector<region_mapping> all_;
};

// Which PEs get a chunk, besides its owner.
class subscribers {
 public:
  // The PEs, bit p for PE p, that get the chunk of `owner` with these elements.
  using function = std::function<std::uint64_t(int owner, index_range elements)>;

  subscribers() = default;  // everyone
  static subscribers only(function f) { return subscribers(std::move(f)); }
  // These, and the host: see region::on_host.
  subscribers and_host() const {
    subscribers s = *this;
    s.host_ = true;
    return s;
  }

  bool host() const { return host_; }
  bool everyone() const { return !mask_of_; }
  std::uint64_t of(int owner, index_range elements) const { return mask_of_(owner, elements); }

 private:
  explicit subscribers(function f) : mask_of_(std::move(f)) {}

  function mask_of_;
  bool host_ = false;
};

inline const subscribers everyone;

struct region_options {
  // Copies of the region that epochs take in turn.
  int buffers = 2;
  region_agent agent = region_agent::polling;
  // Of a chunk, a multiple of 128; the last chunk of a part may be shorter. 0: about 64 chunks in a part, from 64 KB to
  // 1 MB; 1 MB for the copy engine, each copy of which the host begins.
  std::size_t chunk_bytes = 0;
  region_mappings tiles = region_mapping::one_to_one(1024);
  starling::subscribers subscribers = everyone;
  // Where the parts of PEs 1, 2, ... begin: whole 128 bytes. Empty: parts of about the same size.
  std::vector<index_t> bounds = {};
  // Polling blocks, launched copies for which there is room at the same time, or streams of the copy engine, on each
  // PE. 0: one polling block or copy for each 8 multiprocessors that every PE has, at least one block, or two copies;
  // one stream.
  int agent_blocks = 0;
  // Writers wait until readers have given the buffer free with give_credit; needed where a PE reads a part of an epoch,
  // or does not get all of it.
  bool credits = false;
  // Kernels may flush: show others what they have committed before its chunk is ready.
  bool flushes = false;

  // Each chunk that is sent is compared with a hash of what was sent, and one that differs is a region_error. Slow; for
  // element types without padding.
  bool verify = false;

  // ---- for measuring ----

  // region::report says when chunks arrived and how long blocks waited.
  bool timed = false;
  region_sending sending = region_sending::all;
  // Of the polling agent alone: inline stores go out as kernels make them. Chunks of one agent block follow each other
  // on all links, each block having its share of the rate. In check mode, where time has no meaning, it does nothing.
  paced links = {};
};

}  // namespace starling
