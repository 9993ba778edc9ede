// Teams and all their collectives.
#pragma once

#include "starling/shmem/alltoall.hpp"
#include "starling/shmem/gather.hpp"
#include "starling/shmem/reduce.hpp"
#include "starling/shmem/symmetric_team.hpp"
#include "starling/shmem/sync.hpp"
