// The few functions that know which processor they are compiled for, a file for each subject: everything above them is
// written once, in terms of these. On a virtual device a block is one thread, so the functions that deal with threads
// are trivial there.
#pragma once

#include "starling/device/target/block_memory.hpp"
#include "starling/device/target/bulk_copies.hpp"
#include "starling/device/target/clock.hpp"
#include "starling/device/target/copies_ahead.hpp"
#include "starling/device/target/entry.hpp"
#include "starling/device/target/lanes.hpp"
#include "starling/device/target/memory.hpp"
#include "starling/device/target/numbered.hpp"
#include "starling/device/target/pass.hpp"
#include "starling/device/target/rolled.hpp"
#include "starling/device/target/threads.hpp"
#include "starling/device/target/warp_beside.hpp"
