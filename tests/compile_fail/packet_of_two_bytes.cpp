// expect: packets carry elements of 4 or 8 bytes
#include "starling/device/packet.hpp"

starling::index_t packets() { return starling::packets_for<std::int16_t>(4); }
