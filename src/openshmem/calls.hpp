// What the functions that are made from functions.json call.
#pragma once

#include "atomics.hpp"
#include "collectives.hpp"
#include "contexts.hpp"
#include "errors.hpp"
#include "heap.hpp"
#include "locks.hpp"
#include "memory_access.hpp"
#include "pshmem.h"
#include "setup.hpp"
#include "teams.hpp"
#include "waits.hpp"
