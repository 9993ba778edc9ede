// Register tiles of stencils in check mode: tiles that a GPU would get, in blocks of as many threads as it has for
// them, all of them in whole warps. Programs for virtual devices do not plan them.
#pragma once

#include <optional>

#include "stencil/core/persistent.hpp"
#include "stencil/plan/tile_choice.hpp"
#include "stencil/tiles/tile_program.hpp"

namespace starling::test {

template <class T, int Rows, bool DeepHalo>
struct register_tiles {
  stencil::resident_arguments<T> a;
  int threads;
  int threads_in_check() const { return threads; }
  void operator()(block& b) const {
    stencil::tile_program<T, 2, {.single_buffered = true, .band_rows = Rows, .deep_halo = DeepHalo}>(b, a).run();
  }
};

// Makes the steps that the options say with bands of `Rows` rows, on `blocks` tiles of a PE at most, which exchange
// every `Depth` steps. The threads of a block; nothing if a GPU would have other tiles.
template <class T, int Rows, int Depth>
std::optional<int> run_register_tiles(const machine& m, const stencil::problem<T>& p, std::vector<T>& u, int blocks,
                                      stencil::run_options o) {
  o.how = stencil::variant::temporal;
  o.depth = Depth;
  stencil::domain<T> d(m, p);
  d.load(u.data());
  const auto tiles = stencil::choose_tiles<T>(d.memory.shape, {machine_kind::cuda, blocks, 200'000}, o);
  if (!tiles || tiles->grid.registers.rows != Rows || tiles->grid.depth != Depth) return std::nullopt;
  const int all = tiles->grid.blocks();
  symmetric_array<packet> packet_buffer;
  stencil::make_zeroed(d, packet_buffer, stencil::packet_slots * all * tiles->grid.packets_per_block());
  register_tiles<T, Rows, (Depth > 1)> k{{}, tiles->threads};
  stencil::configure(k.a, d, o);
  k.a.f = d.memory;
  k.a.grid = tiles->grid;
  if (packet_buffer.allocated()) k.a.packet_buffer = packet_buffer.data();
  role_plan roles;
  roles.add("tiles", all);
  stencil::run_result result;
  stencil::run_persistent(d, program{roles, make_kernel(k), {tiles->threads, tiles->scratch_bytes}}, o, result);
  d.store(u.data());
  return tiles->threads;
}

}  // namespace starling::test
