#include "dist/nccl_process_group.h"

#include "base/error.h"

#ifdef USE_C10D_NCCL

#include <chrono>
#include <cstdlib>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "dist/store.h"

namespace odb {
namespace {

void switch_watching_off() {
  for (const char* name : {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ENABLE_MONITORING",
                           "TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_NCCL_PROPAGATE_ERROR",
                           "TORCH_NCCL_DESYNC_DEBUG", "TORCH_NCCL_BLOCKING_WAIT"})
    ::setenv(name, "0", 1);
}

}  // namespace

bool has_nccl() {
  return true;
}

c10::intrusive_ptr<c10d::Backend> nccl_process_group(const Store& store, const std::string& prefix,
                                                     int rank, int world, torch::Device device) {
  switch_watching_off();
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = std::chrono::hours(24 * 365 * 10);
  auto keys = c10::make_intrusive<c10d::PrefixStore>(
      prefix, c10::intrusive_ptr<c10d::Store>::reclaim_copy(&store.libtorch()));
  auto group = c10::make_intrusive<c10d::ProcessGroupNCCL>(keys, rank, world, options);
  group->setBoundDeviceId(device);
  return group;
}

void abort_nccl(c10d::Backend& group) {
  static_cast<c10d::ProcessGroupNCCL&>(group).abort();
}

}  // namespace odb

#else

namespace odb {

bool has_nccl() {
  return false;
}

c10::intrusive_ptr<c10d::Backend> nccl_process_group(const Store&, const std::string&, int, int,
                                                     torch::Device) {
  throw InternalError("the LibTorch of this build has no NCCL");
}

void abort_nccl(c10d::Backend&) {}

}  // namespace odb

#endif
