#include "partition.hpp"

#include <utility>

#include "../gpu_shares.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {

partition::partition(partition&& other) noexcept { *this = std::move(other); }

partition& partition::operator=(partition&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(context_, other.context_);
  std::swap(multiprocessors_, other.multiprocessors_);
  return *this;
}

partition::~partition() {
  if (context_ != nullptr) (void)driver_->green_destroy(context_);
}

cudaStream_t partition::new_stream(int pe, int priority) const {
  CUstream stream = nullptr;
  driver_->check(driver_->green_stream(&stream, context_, CU_STREAM_NON_BLOCKING, priority), "cuGreenCtxStreamCreate",
                 pe);
  return stream;
}

std::vector<partition> split(const driver_api& driver, int device, int pes, const std::string& gpu) {
  expect<unsupported_error>(driver.has_partitions(), "machine::cuda: the CUDA driver makes no partitions of ", gpu,
                            " (it has no green contexts): update it, or let PEs share plainly (gpu_sharing::plain, ",
                            "STARLING_GPU_SHARING=plain)");
  CUdevResource all{};
  driver.check(driver.device_resource(device, &all, CU_DEV_RESOURCE_TYPE_SM), "cuDeviceGetDevResource", no_pe);
  const auto whole = static_cast<int>(all.sm.smCount);
  const auto least = static_cast<int>(all.sm.minSmPartitionSize);
  const auto multiple = static_cast<int>(all.sm.smCoscheduledAlignment);
  const auto refuse = [&] {
    throw unsupported_error(message("machine::cuda: ", gpu, " cannot be divided into ", pes, " partitions: of its ",
                                    whole, " multiprocessors a partition has at least ", least, " and a multiple of ",
                                    multiple, "; ask for fewer PEs per GPU, or let them share plainly ",
                                    "(gpu_sharing::plain, STARLING_GPU_SHARING=plain)"));
  };
  const std::optional<int> size = partition_size(whole, pes, least, multiple);
  if (!size) refuse();
  std::vector<CUdevResource> groups(static_cast<std::size_t>(pes));
  auto made = static_cast<unsigned>(pes);
  CUdevResource left{};
  driver.check(driver.split_resource(groups.data(), &made, &all, &left, 0, static_cast<unsigned>(*size)),
               "cuDevSmResourceSplitByCount", no_pe);
  if (made < groups.size()) refuse();
  std::vector<partition> parts;
  for (CUdevResource& group : groups) {
    CUdevResourceDesc what = nullptr;
    driver.check(driver.describe_resource(&what, &group, 1), "cuDevResourceGenerateDesc", no_pe);
    CUgreenCtx context = nullptr;
    driver.check(driver.green_create(&context, what, device, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate", no_pe);
    parts.emplace_back(driver, context, static_cast<int>(group.sm.smCount));
  }
  return parts;
}

}  // namespace starling::on_cuda
