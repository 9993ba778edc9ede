// How puts, gets and signals reach memory on virtual devices: at once, as plain copies and atomic updates.
#pragma once

#include "parking.hpp"
#include "starling/device/host_port.hpp"

namespace starling::host {

// Copies the elements of a put or get. Where they are words of 4 or 8 bytes and few, each arrives whole: another block
// may wait for it.
void deliver(const transfer& t);

// Raises a signal after everything the calling thread did before, and wakes those who wait for it.
void raise(const signal_update& s, parking& lot);

// The signal's value, acquired.
std::uint64_t look(const signal& s);

}  // namespace starling::host
