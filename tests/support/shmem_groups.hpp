// Who makes a call of OpenSHMEM's: a block, its first warp, its first thread, or a context of one of them.
#pragma once

#include "starling/shmem/context.hpp"

namespace starling::test {

enum class caller : int { block, warp, thread, block_context, thread_context };
inline constexpr caller all_callers[] = {caller::block, caller::warp, caller::thread, caller::block_context,
                                         caller::thread_context};

// Calls f with the group. Threads outside the group skip it.
template <class F>
STARLING_HD void call_by(block& b, caller who, const F& f) {
  if (who == caller::block) {
    f(b);
  } else if (who == caller::warp) {
    const warp w = b.warp();
    if (w.rank() == 0) f(w);
  } else if (who == caller::block_context) {
    f(shmem::context(b));
  } else if (b.member() == 0) {
    if (who == caller::thread)
      f(b.thread());
    else
      f(shmem::context(b.thread()));
  }
}

}  // namespace starling::test
