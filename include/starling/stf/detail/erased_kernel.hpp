// erased_kernel: a kernel of a task as an operation of persistent programs, its type erased. On GPUs each kernel has a
// program of its own, or one with others that are named with it (kernel_list), in which it is called like any function:
// a pointer to a function of the device would mean something only to kernels of the same translation unit, and each of
// these would hold a copy of every function that has one.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>

#include "starling/machine/kernel.hpp"
#include "starling/stf/detail/program_kernel.hpp"

namespace starling::stf {

// A kernel whose values are the same for any number of blocks that share it says how many would have something to do.
template <class F>
concept divisible_kernel = requires(const F& f) {
  { f.most_blocks() } -> std::same_as<index_t>;
};

// Kernels that are one program, each once.
template <class... F>
struct kernel_list {};

namespace detail {

template <class F, class... All>
inline constexpr bool is_among = (std::is_same_v<F, All> || ...);

template <class List, class... More>
struct joined_kernels {
  using type = List;
};
template <class... F, class G, class... More>
struct joined_kernels<kernel_list<F...>, G, More...>
    : joined_kernels<std::conditional_t<is_among<G, F...>, kernel_list<F...>, kernel_list<F..., G>>, More...> {};
template <class... F, class... G, class... More>
struct joined_kernels<kernel_list<F...>, kernel_list<G...>, More...>
    : joined_kernels<typename joined_kernels<kernel_list<F...>, G...>::type, More...> {};

// The program of a kernel, which is that of the list if it is one of them, and its number there.
template <class F, class List>
struct program_of_kernel;
template <class F, class... All>
struct program_of_kernel<F, kernel_list<All...>> {
  using type = std::conditional_t<is_among<F, All...>, program_kernel<All...>, program_kernel<F>>;
  static constexpr int number = [] {
    int at = 0;
    const bool found = ((std::is_same_v<F, All> || (++at, false)) || ...);
    return found ? at : 0;
  }();
};

// One function for all kernels of a program, which are known by it.
template <class Program>
kernel make_program(const program_tables& tables) {
  return make_kernel(Program{tables});
}

}  // namespace detail

// All kernels of several lists, and kernels, each once.
template <class... Lists>
using joined_kernels = typename detail::joined_kernels<kernel_list<>, Lists...>::type;

struct erased_kernel {
  operation_function on_host = nullptr;
  // The program that does such operations, and which of its kernels this one is; on virtual devices any program does
  // any operation.
  kernel (*program)(const program_tables& tables) = nullptr;
  int kind = 0;
  // Bytes that a GPU may have a copy of, as launches copy them.
  std::shared_ptr<const void> closure;
  std::size_t bytes = 0;
  index_t most_blocks = 0;  // of a divisible kernel; 0: the values are those of as many blocks as the launch has
  // See kernel.
  bool accesses_seen = false;
  int threads_in_check = 0;
  bool whole_warps = false;
};

// In the program of `Together` if it is one of these.
template <class Together = kernel_list<>, kernel_function F>
erased_kernel erase_kernel(const F& f) {
  using program = detail::program_of_kernel<F, Together>;
  static_assert(alignof(F) <= 256, "what a kernel carries is aligned to up to 256 bytes");
  erased_kernel c;
  c.on_host = [](const void* closure, block& b) { (*static_cast<const F*>(closure))(b); };
  c.program = &detail::make_program<typename program::type>;
  c.kind = program::number;
  c.closure = std::make_shared<const F>(f);
  c.bytes = sizeof(F);
  if constexpr (divisible_kernel<F>) c.most_blocks = f.most_blocks();
  c.accesses_seen = target::checked;
  c.threads_in_check = target::threads_in_check(f);
  c.whole_warps = target::for_whole_warps<F>;
  return c;
}

}  // namespace starling::stf
