#include "stencil/core/domain.hpp"

#include "starling/base/error.hpp"
#include "stencil/plan/launch_shape.hpp"

namespace starling::stencil {
namespace {

template <class T>
coefficients<T> weights(const problem<T>& p) {
  coefficients<T> w{};
  w.centre = p.coefficients[0];
  const std::size_t dimensions = p.shape.size();
  for (std::size_t i = 0; i < dimensions; ++i) {
    w.low[i + axes - dimensions] = p.coefficients[1 + 2 * i];
    w.high[i + axes - dimensions] = p.coefficients[2 + 2 * i];
  }
  return w;
}

std::vector<int> own_pes_of(const machine& m) {
  std::vector<int> own;
  for (auto pe = m.local_pes().begin; pe < m.local_pes().end; ++pe) own.push_back(static_cast<int>(pe));
  return own;
}

}  // namespace

template <class T>
domain<T>::domain(starling::machine m, const problem<T>& p) : machine(std::move(m)), own_pes(own_pes_of(machine)) {
  memory.shape = geometry_of(p, machine.size());
  memory.weight = weights(p);
  const geometry& g = memory.shape;
  place_faces(memory);
  const index_t face_cells = memory.face_start[faces];
  for (int slot = 0; slot < 2; ++slot) u_[slot] = machine.template allocate<T>(g.largest(0) * g.stride[0]);
  receive_buffer_ = machine.template allocate<T>(face_cells * receive_slots);
  packet_buffer_ = machine.template allocate<packet>(memory.packet_start[faces] * receive_slots);
  send_buffer_ = machine.template allocate<T>(face_cells);
  arrived_ = machine.template allocate<signal>(faces * most_chunks);
  boxes_ = machine.template allocate<box>(1);
  status = machine.template allocate<program_status>(1);
  if (machine.is_local(0)) machine.fill(status.on(0), 0, sizeof(program_status));
  tile_counter_ = machine.template allocate<std::uint32_t>(1);
  for (int slot = 0; slot < 2; ++slot) memory.u[slot] = u_[slot].data();
  memory.own = boxes_.data();
  memory.receive_buffer = receive_buffer_.data();
  memory.packet_buffer = packet_buffer_.data();
  memory.send_buffer = send_buffer_.data();
  memory.arrived = arrived_.data();
  memory.tile_counter = tile_counter_.data();
  for (const int pe : own_pes) {
    const box own = box_of(g, pe);
    machine.copy(boxes_.on(pe), &own, sizeof own);
    machine.fill(packet_buffer_.on(pe), 0, static_cast<std::size_t>(packet_buffer_.size()) * sizeof(packet));
    machine.fill(arrived_.on(pe), 0, static_cast<std::size_t>(arrived_.size()) * sizeof(signal));
    main.push_back(machine.new_stream(pe));
    side.push_back(machine.new_stream(pe));
  }
  machine.meet();  // before a neighbour sends its faces
}

// The box of each PE, to or from its place in the whole array: each process fills its own, and takes all.
template <class T>
void domain<T>::copy_cells(T* u, bool in) {
  const geometry& g = memory.shape;
  const auto bytes = [](index_t elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
  for (int pe = 0; pe < machine.size(); ++pe) {
    if (in && !machine.is_local(pe)) continue;
    const box own = box_of(g, pe);
    // Streams of a GPU do not reach processes of other hosts.
    const bool near = machine.is_local(pe) || machine.host_of(pe) == machine.host_of(own_pes.front());
    std::vector<T> plane(near ? 0 : static_cast<std::size_t>(own.extent[1] * g.stride[1]));
    for (index_t z = 0; z < own.extent[0]; ++z) {
      T* whole = u + ((own.first[0] + z) * g.extent[1] + own.first[1]) * g.extent[2] + own.first[2];
      for (int slot = 0; slot < (in ? 2 : 1); ++slot) {
        T* part = u_[in ? slot : time_level % 2].on(pe) + z * g.stride[0];
        stream& s = main[static_cast<std::size_t>(pe) % main.size()];
        const auto width = bytes(own.extent[2]);
        const auto height = static_cast<std::size_t>(own.extent[1]);
        if (!near) {
          machine.copy(plane.data(), part, bytes((own.extent[1] - 1) * g.stride[1] + own.extent[2]));
          s.copy_rows(whole, bytes(g.extent[2]), plane.data(), bytes(g.stride[1]), width, height);
          s.synchronize();  // before the next plane comes
        } else if (in)
          s.copy_rows(part, bytes(g.stride[1]), whole, bytes(g.extent[2]), width, height);
        else
          s.copy_rows(whole, bytes(g.extent[2]), part, bytes(g.stride[1]), width, height);
      }
    }
  }
  synchronize();
}

template <class T>
void domain<T>::load(const T* u) {
  time_level = reached + 1;
  reached = time_level;
  copy_cells(const_cast<T*>(u), true);
}

template <class T>
void domain<T>::store(T* u) {
  copy_cells(u, false);
  machine.meet();  // before a process fills its own again
}

template <class T>
void domain<T>::synchronize() {
  for (stream& s : side) s.synchronize();
  for (stream& s : main) s.synchronize();
}

template <class T>
void domain<T>::settle() {
  for (auto* streams : {&side, &main})
    for (stream& s : *streams) try {
        s.synchronize();
      } catch (const error&) {
      }
}

template <class T>
void domain<T>::publish() {
  // On a virtual device blocks of a plain launch run one after the other.
  const int blocks = machine.kind() == machine_kind::host ? 1 : 8;
  const kernel k = publish_kernel(memory, time_level);
  const launch_options options{.scratch_bytes = scratch_bytes};
  // What streams launch on GPUs does not reach processes of other hosts.
  if (machine.transport() != "direct") return machine.run_kernel(blocks, k, options);
  for (stream& s : main) s.launch_kernel(blocks, k, options);
  synchronize();
}

template <class T>
void domain<T>::equal_slots() {
  const auto now = static_cast<std::size_t>(time_level % 2);
  for (stream& s : main)
    s.copy(u_[1 - now].on(s.pe()), u_[now].on(s.pe()), static_cast<std::size_t>(u_[now].size()) * sizeof(T));
  synchronize();
}

template <class T>
void domain<T>::reset_tile_counter() {
  for (const int pe : own_pes) machine.fill(tile_counter_.on(pe), 0, sizeof(std::uint32_t));
  memory.counter_reset_at = time_level;
}

template class domain<float>;
template class domain<double>;

}  // namespace starling::stencil
