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
  device_mapper(const std::vector<gpu>& gpus, const driver_api& driver);

  // What addresses and sizes of mapped memory are multiples of.
  std::size_t granularity() const { return granularity_; }
  std::size_t rounded(std::size_t bytes) const { return (bytes + granularity_ - 1) / granularity_ * granularity_; }

  CUdeviceptr reserve(std::size_t bytes) const;
  void give_back(CUdeviceptr address, std::size_t bytes) const noexcept { (void)driver_.address_free(address, bytes); }

  // Throws memory_error, whose text begins with `what`, and then has changed nothing.
  void map(const gpu& g, CUdeviceptr address, std::size_t bytes, const std::string& what) const;
  // Nothing uses the memory any more: see await_all_work().
  void unmap(const gpu& g, CUdeviceptr address, std::size_t bytes) const noexcept {
    (void)driver_.unmap(address, bytes);
    shares_.give_back(g.pe, bytes);
  }

  // What a PE may still take of its share; memory_shares::no_limit: it has its GPU alone.
  std::size_t left(const gpu& g) const { return shares_.left(g.pe); }

  // Returns when all work on the GPUs has ended; false if CUDA does not allow to wait here, or has failed.
  bool await_all_work() const noexcept;

  [[noreturn]] void throw_out_of_memory(const gpu& g, const std::string& what) const;

 private:
  void put_behind(const gpu& g, CUdeviceptr address, std::size_t bytes, const std::string& what) const;

  const std::vector<gpu>& gpus_;
  const driver_api& driver_;
  std::vector<CUmemAccessDesc> access_;  // of all GPUs of the machine, each once
  mutable memory_shares shares_;
  std::size_t granularity_ = 1;
};

}  // namespace starling::on_cuda
