// OpenSHMEM in kernels and on the host; see docs/openshmem.md.
#pragma once

// In kernels.
#include "starling/shmem/address.hpp"
#include "starling/shmem/alltoall.hpp"
#include "starling/shmem/atomics.hpp"
#include "starling/shmem/batch.hpp"
#include "starling/shmem/context.hpp"
#include "starling/shmem/gather.hpp"
#include "starling/shmem/lock.hpp"
#include "starling/shmem/reduce.hpp"
#include "starling/shmem/rma.hpp"
#include "starling/shmem/signals.hpp"
#include "starling/shmem/sync.hpp"
#include "starling/shmem/wait.hpp"

// On the host.
#include "starling/shmem/world.hpp"
