// Puts memory of GPUs behind addresses, so that every GPU of the machine may read and write it, and counts what each PE
// has of its share. Owns nothing: who maps also unmaps.
#pragma once

#include <string>
#include <vector>

#include "../gpu_shares.hpp"
#include "gpu.hpp"

namespace starling::on_cuda {

class device_mapper {
 public:
  // `exported`: memory can be handed to other processes.
  device_mapper(const std::vector<gpu>& gpus, const driver_api& driver, bool exported = false);

  // What addresses and sizes of mapped memory are multiples of.
  std::size_t granularity() const { return granularity_; }
  std::size_t rounded(std::size_t bytes) const { return (bytes + granularity_ - 1) / granularity_ * granularity_; }

  CUdeviceptr reserve(std::size_t bytes) const;
  void give_back(CUdeviceptr address, std::size_t bytes) const noexcept { (void)driver_.address_free(address, bytes); }

  // Throws memory_error, whose text begins with `what`, and then has changed nothing.
  void map(const gpu& g, CUdeviceptr address, std::size_t bytes, const std::string& what) const;
  // The same in steps, for memory that processes hand to each other: memory of `g`, counted in its share, a file that
  // stands for it, and of such a file of another process the memory again. A handle is let go once it is mapped.
  CUmemGenericAllocationHandle create(const gpu& g, std::size_t bytes, const std::string& what) const;
  file export_file(const gpu& g, CUmemGenericAllocationHandle handle) const;
  CUmemGenericAllocationHandle import_file(const gpu& g, const file& from) const;
  void put_behind(const gpu& g, CUdeviceptr address, std::size_t bytes, CUmemGenericAllocationHandle handle) const;
  void let_go(CUmemGenericAllocationHandle handle) const noexcept { (void)driver_.release(handle); }

  // Nothing uses the memory any more: see await_all_work().
  void unmap(const gpu& g, CUdeviceptr address, std::size_t bytes) const noexcept {
    (void)driver_.unmap(address, bytes);
    give_back_share(g, bytes);
  }
  void give_back_share(const gpu& g, std::size_t bytes) const noexcept {
    if (g.driven) shares_.give_back(g.pe, bytes);
  }

  // What a PE may still take of its share; memory_shares::no_limit: it has its GPU alone.
  std::size_t left(const gpu& g) const { return shares_.left(g.pe); }

  // Returns when all work on the GPUs has ended; false if CUDA does not allow to wait here, or has failed.
  bool await_all_work() const noexcept;

  [[noreturn]] void throw_out_of_memory(const gpu& g, const std::string& what) const;

 private:
  const std::vector<gpu>& gpus_;
  const driver_api& driver_;
  bool exported_;
  std::vector<CUmemAccessDesc> access_;  // of all GPUs of the machine, each once
  mutable memory_shares shares_;
  std::size_t granularity_ = 1;
};

}  // namespace starling::on_cuda
