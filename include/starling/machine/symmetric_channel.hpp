// symmetric_channel<T>: owns the memory of a channel, the same on every PE. Made by machine::allocate_channel; freed
// when the owner dies. Kernels get the plain handle(); numbers and credits are explained in device/channel.hpp.
#pragma once

#include "starling/device/channel.hpp"
#include "starling/machine/symmetric_array.hpp"

namespace starling {

class machine;

struct channel_options {
  int slots = 2;                       // messages that a receiver holds at once
  int lanes = 1;                       // of slots and numbers of their own
  protocol how = protocol::automatic;  // for measurements: one way for all sizes
};

// The untyped part of symmetric_channel.
class channel_memory {
 public:
  channel_memory() = default;
  channel_memory(machine& m, index_t capacity, std::size_t element, const channel_options& options);

  // A channel of these parts, without those that only T knows.
  template <class T>
  typename channel<T>::parts parts(index_t capacity) const {
    return {packets_.data(),   data_.data(),   arrived_.data(), taken_.data(), capacity,    slot_bytes_,
            packets_per_slot_, options_.slots, options_.lanes,  n_pes_,        options_.how};
  }
  void restart(machine& m, std::uint64_t after);

 private:
  channel_options options_;
  int n_pes_ = 1;
  index_t slot_bytes_ = 0;
  index_t packets_per_slot_ = 0;
  symmetric_array<packet> packets_;
  symmetric_array<std::byte> data_;
  symmetric_array<signal> arrived_;
  symmetric_array<signal> taken_;
};

template <class T>
class symmetric_channel {
 public:
  symmetric_channel() = default;
  symmetric_channel(machine& m, index_t capacity, const channel_options& options)
      : memory_(m, capacity, sizeof(T), options), capacity_(capacity) {}

  // Throws argument_error when the channel was moved from.
  channel<T> handle() const { return channel<T>(memory_.parts<T>(capacity_)); }

  // Between programs: the next message on every lane has the number `after` + 1, and all slots are free.
  void restart(machine& m, std::uint64_t after = 0) { memory_.restart(m, after); }

 private:
  channel_memory memory_;
  index_t capacity_ = 0;
};

}  // namespace starling
