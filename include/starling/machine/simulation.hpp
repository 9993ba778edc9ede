// What calls, flights and computing cost where check mode keeps time: its schedule is then a discrete-event simulation
// of the program. What happens next is what has the least time, not what a seed draws.
#pragma once

namespace starling {

// One way for messages: from PE to PE of the same host, say. Times in ns, rates in bytes per ns, which are GB/s.
struct flight_costs {
  double packet = 0;   // from the store of a packet to its being seen
  double signal = 0;   // the same of a signal, which follows what it tells of
  double message = 0;  // of each message: how long the sender's link is taken beside its bytes
  double rate = 1e9;   // of the link, one each way for each PE
};

struct simulation_costs {
  flight_costs own;          // within a PE; takes no link
  flight_costs host;         // to another PE of the same host
  flight_costs between;      // to another host, by the network cards of the two PEs
  int pes_per_host = 0;      // 0: all PEs are on one
  double call = 0;           // ns of each call of a block that is no packet's
  double packet_call = 0;    // of each packet that a block sends or takes
  double next_sender = 0;    // of taking a packet from another PE than the block's last
  double meeting = 0;        // of the block's own part in a barrier or a reduction
  double memory_rate = 1e9;  // bytes per ns that a block loads and stores in symmetric and local memory
};

}  // namespace starling
