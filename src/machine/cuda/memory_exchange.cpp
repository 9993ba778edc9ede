#include "memory_exchange.hpp"

namespace starling::on_cuda {
namespace {

constexpr const char* allocate_call = "machine::allocate";

}  // namespace

// Of the PEs of other processes there is 0. `problem` says why there is none of all PEs; empty: there is.
std::vector<CUmemGenericAllocationHandle> memory_exchange::create_own(std::size_t bytes, const std::string& what,
                                                                      std::string& problem) {
  std::vector<CUmemGenericAllocationHandle> all(gpus_.size());
  try {
    for (const gpu& g : driven_here(gpus_)) all[static_cast<std::size_t>(g.pe)] = mapper_.create(g, bytes, what);
  } catch (const error& e) {
    problem = e.what();
  }
  return all;
}

std::vector<CUmemGenericAllocationHandle> memory_exchange::create(std::size_t bytes, const std::string& what) {
  std::string problem;
  std::vector<CUmemGenericAllocationHandle> all = create_own(bytes, what, problem);
  const auto give_back = [&] {
    for (const gpu& g : gpus_) {
      const CUmemGenericAllocationHandle handle = all[static_cast<std::size_t>(g.pe)];
      if (handle == 0) continue;
      mapper_.let_go(handle);
      mapper_.give_back_share(g, bytes);
    }
  };
  try {
    for (const std::string& said : processes_.collect(allocate_call, problem)) expect<memory_error>(said.empty(), said);
    take_from_others(all);
  } catch (...) {
    give_back();
    throw;
  }
  return all;
}

void memory_exchange::take_from_others(std::vector<CUmemGenericAllocationHandle>& all) {
  const std::span<const gpu> own = driven_here(gpus_);
  std::vector<std::size_t> reached;  // by process of this host
  for (const gpu& g : gpus_)
    if (g.reached) reached.push_back(static_cast<std::size_t>(g.pe));
  for (std::size_t i = 0; i < own.size(); ++i) {
    const file mine = mapper_.export_file(own[i], all[static_cast<std::size_t>(own[i].pe)]);
    const std::vector<file> theirs = files_.exchange(allocate_call, mine);
    for (std::size_t rank = 0; rank < theirs.size(); ++rank) {
      if (!theirs[rank].is_open()) continue;
      const std::size_t pe = reached[rank * own.size() + i];
      all[pe] = mapper_.import_file(gpus_[pe], theirs[rank]);
    }
  }
}

}  // namespace starling::on_cuda
