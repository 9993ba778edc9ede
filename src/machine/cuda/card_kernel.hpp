// The network card of a host of GPUs: a kernel that runs beside the program whose blocks it serves.
#pragma once

#include <cuda_runtime_api.h>

#include "starling/device/network/card_view.hpp"
#include "starling/device/symmetric.hpp"
#include "starling/machine/kernel.hpp"

namespace starling::on_cuda {

inline constexpr int card_threads = 256;

// One block on each PE; that of the first PE of a host is the host's card, the others end at once. `blocks`: of the
// program, on each PE. It ends when all blocks of its host's PEs have ended, or with its own program.
kernel card_kernel(sym<network::card_view> views, std::uint64_t blocks);

// For a card that is a thread: carries out an atomic operation in a stream, the word's old value at `o.local`. It is
// loaded ahead: a kernel that is first met while others run would wait for their end.
void launch_change(const network::order& o, cudaStream_t stream, int pe);
void load_change();

}  // namespace starling::on_cuda
