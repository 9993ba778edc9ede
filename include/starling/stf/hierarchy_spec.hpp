// Specifications of thread hierarchies: par(...) and con(...), nested to any depth.
//
//   con(par(n, con<32>()))   32 threads that synchronise, n such groups, as many of those as the device keeps busy
//
// Threads of a con level may synchronise within their group, those of a par level may not. A width is static,
// con<32>(), dynamic, par(n), or automatic, par(). Further arguments, in any order: mem(bytes), scratch memory that the
// members of a level share; hw_scope::device, block or thread, what of the hardware the level's members are; the level
// below. The type tells the depth, the static widths, which levels synchronise and what they are mapped to.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "starling/base/index.hpp"
#include "starling/device/target.hpp"

namespace starling::stf {

// In this order, from the outside to the inside.
enum class hardware { automatic, device, block, thread };

template <hardware Scope>
struct scope_argument {};

struct hw_scope {
  static constexpr scope_argument<hardware::device> device{};  // one member per place
  static constexpr scope_argument<hardware::block> block{};    // blocks of one device
  static constexpr scope_argument<hardware::thread> thread{};  // threads of one block
};

// Scratch memory of a level.
struct mem {
  explicit constexpr mem(std::size_t n) : bytes(n) {}
  std::size_t bytes;
};

inline constexpr int most_levels = 6;
// Widths in the type of a level, beside the static ones, which are positive.
inline constexpr index_t automatic_width = 0;
inline constexpr index_t dynamic_width = -1;
// Threads of a block, where the mapping decides.
inline constexpr int usual_threads = 256;

// Throws argument_error. Out of line, as what happens once at most.
[[noreturn]] void refuse_width(index_t width);

template <bool Synchronises, index_t Width, hardware Scope>
struct level {
  static constexpr bool synchronises = Synchronises;
  static constexpr index_t width = Width;
  static constexpr hardware scope = Scope;
};

template <class... Levels>
struct hierarchy_spec {
  static constexpr int depth = static_cast<int>(sizeof...(Levels));
  static_assert(depth >= 1 && depth <= most_levels, "a thread hierarchy has 1 to 6 levels");

  // ---- of levels, counted from 0, the outermost ----

  STARLING_HD static constexpr bool synchronises(int l) {
    int i = 0;
    bool found = false;
    ((found = i++ == l ? Levels::synchronises : found), ...);
    return found;
  }
  STARLING_HD static constexpr index_t width_of(int l) {
    int i = 0;
    index_t found = automatic_width;
    ((found = i++ == l ? Levels::width : found), ...);
    return found;
  }
  STARLING_HD static constexpr index_t static_width_of(int l) { return width_of(l) > 0 ? width_of(l) : 0; }
  // 0 where the width is not static.
  template <int Level>
  static constexpr index_t static_width = static_width_of(Level);

  STARLING_HD static constexpr hardware forced(int l) {
    int i = 0;
    hardware found = hardware::automatic;
    ((found = i++ == l ? Levels::scope : found), ...);
    return found;
  }
  // What the members of a level are: threads innermost, blocks further out, and nothing larger than further out.
  STARLING_HD static constexpr hardware finest(int l) {
    if (forced(l) != hardware::automatic) return forced(l);
    hardware found = hardware::thread;
    if (l < depth - 1) found = finest(l + 1) < hardware::block ? finest(l + 1) : hardware::block;
    for (int k = 0; k < l; ++k)
      if (forced(k) > found) found = forced(k);
    return found;
  }
  // The outermost part of the hardware that a level is spread over: the next after what is finest in the level above.
  STARLING_HD static constexpr hardware coarsest(int l) {
    if (forced(l) != hardware::automatic) return forced(l);
    if (l == 0) return hardware::device;
    const hardware below = finest(l - 1) == hardware::device ? hardware::block : hardware::thread;
    return finest(l) < below ? finest(l) : below;
  }
  // How many levels, from the outside, are blocks and devices.
  STARLING_HD static constexpr int outer_levels() {
    int k = 0;
    while (k < depth && finest(k) != hardware::thread) ++k;
    return k;
  }
  // Whether the innermost level is spread over blocks and their threads.
  STARLING_HD static constexpr bool spread() {
    return finest(depth - 1) == hardware::thread && coarsest(depth - 1) != hardware::thread;
  }
  // The most threads that a block will have: what the compiler shares registers among.
  static constexpr int most_threads() {
    if (spread()) {
      const index_t w = width_of(depth - 1);
      if (!synchronises(depth - 1) || w == automatic_width) return usual_threads;
      return w == dynamic_width || w > 1024 ? 1024 : static_cast<int>(round_up(w, 32));
    }
    index_t n = 1;
    for (int l = outer_levels(); l < depth; ++l) {
      if (width_of(l) == dynamic_width) return 1024;
      if (width_of(l) > 0) n *= width_of(l);
    }
    for (int l = outer_levels(); l < depth; ++l)
      if (width_of(l) == automatic_width && n < usual_threads) n = usual_threads;
    return n >= 1024 ? 1024 : static_cast<int>(round_up(n, 32));
  }
  // The outermost level that synchronises; depth: none does.
  STARLING_HD static constexpr int first_synchronising() {
    int l = 0;
    while (l < depth && !synchronises(l)) ++l;
    return l;
  }
  // Whether this level's groups can synchronise: those within a block can, and of larger ones the outermost.
  STARLING_HD static constexpr bool can_synchronise(int l) {
    return synchronises(l) && ((l >= outer_levels() && !spread()) || l == first_synchronising());
  }
  // Whether blocks may have to wait for each other.
  STARLING_HD static constexpr bool blocks_synchronise() {
    return first_synchronising() < outer_levels() || (spread() && synchronises(depth - 1));
  }
  STARLING_HD static constexpr bool in_order() {
    for (int l = 1; l < depth; ++l)
      if (finest(l) < finest(l - 1) || coarsest(l) == hardware::device) return false;
    return true;
  }
  static_assert(in_order(),
                "hw_scope: levels go from devices over blocks to threads, and only the outermost may be devices");

  index_t width[depth];  // 0: automatic
  std::size_t scratch_bytes[depth];
};

namespace detail {

template <class T>
inline constexpr hardware scope_of = hardware::automatic;
template <hardware Scope>
inline constexpr hardware scope_of<scope_argument<Scope>> = Scope;

template <class T>
inline constexpr bool is_spec = false;
template <class... Levels>
inline constexpr bool is_spec<hierarchy_spec<Levels...>> = true;

template <class T>
inline constexpr bool is_level_argument =
    std::integral<T> || is_spec<T> || scope_of<T> != hardware::automatic || std::is_same_v<T, mem>;

// The scope among the arguments.
template <class... Args>
constexpr hardware scope_among() {
  hardware found = hardware::automatic;
  ((found = scope_of<Args> != hardware::automatic ? scope_of<Args> : found), ...);
  return found;
}

// The specification with one more level outside.
template <class Level, class Inner>
struct outside;
template <class Level>
struct outside<Level, void> {
  using type = hierarchy_spec<Level>;
};
template <class Level, class... Levels>
struct outside<Level, hierarchy_spec<Levels...>> {
  using type = hierarchy_spec<Level, Levels...>;
};

template <class... Args>
struct inner_of {
  using type = void;
};
template <class First, class... More>
struct inner_of<First, More...> {
  using type = std::conditional_t<is_spec<First>, First, typename inner_of<More...>::type>;
};

template <class Spec, class Arg>
constexpr void take(Spec& s, const Arg& a) {
  if constexpr (std::integral<Arg>) {
    s.width[0] = static_cast<index_t>(a);
    if (s.width[0] < 1) refuse_width(s.width[0]);
  } else if constexpr (std::is_same_v<Arg, mem>) {
    s.scratch_bytes[0] += a.bytes;
  } else if constexpr (is_spec<Arg>) {
    for (int l = 0; l < Arg::depth; ++l) {
      s.width[l + 1] = a.width[l];
      s.scratch_bytes[l + 1] = a.scratch_bytes[l];
    }
  }
}

template <bool Synchronises, index_t StaticWidth, class... Args>
constexpr auto make_level(const Args&... args) {
  static_assert((is_level_argument<Args> && ...),
                "par and con take a width, mem(bytes), hw_scope::device, block or thread, and the level below");
  constexpr bool has_number = (std::integral<Args> || ...);
  static_assert((static_cast<int>(std::integral<Args>) + ... + (StaticWidth != 0 ? 1 : 0)) <= 1,
                "par and con take one width, static or dynamic");
  static_assert((static_cast<int>(scope_of<Args> != hardware::automatic) + ... + 0) <= 1,
                "par and con take one hw_scope");
  static_assert((static_cast<int>(is_spec<Args>) + ... + 0) <= 1, "par and con take one level below");
  using own = level<Synchronises, has_number ? dynamic_width : StaticWidth, scope_among<Args...>()>;
  typename outside<own, typename inner_of<Args...>::type>::type s{};
  s.width[0] = StaticWidth;
  (take(s, args), ...);
  return s;
}

}  // namespace detail

// A level whose members do not synchronise.
template <index_t Width = 0, class... Args>
constexpr auto par(const Args&... args) {
  static_assert(Width >= 0, "par<N>: N must be at least 1");
  return detail::make_level<false, Width>(args...);
}

// A level whose members may synchronise.
template <index_t Width = 0, class... Args>
constexpr auto con(const Args&... args) {
  static_assert(Width >= 0, "con<N>: N must be at least 1");
  return detail::make_level<true, Width>(args...);
}

}  // namespace starling::stf
