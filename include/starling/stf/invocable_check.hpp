#pragma once
namespace starling::stf { template <class F, class... A> constexpr void check_callable() { static_assert(std::is_invocable_v<F, A...>); } }
