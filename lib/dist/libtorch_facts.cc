#include "dist/libtorch_facts.h"

#include <dlfcn.h>

#include <cstdint>

#include <fmt/core.h>
#include <torch/version.h>

#include "dist/gloo_process_group.h"

#ifdef ODB_WITH_CUDA
#include <cuda_runtime_api.h>
#endif
#ifdef USE_C10D_NCCL
#include <nccl.h>
#endif

namespace odb {
namespace {

std::string cuda_version() {
#ifdef ODB_WITH_CUDA
  return fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
#else
  return "";
#endif
}

std::string nccl_version() {
#ifdef USE_C10D_NCCL
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return "";
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
#else
  return "";
#endif
}

// Looked up by name: only CUDA builds of LibTorch bring the library.
std::string cupti_version() {
  using GetVersion = int (*)(std::uint32_t*);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "cuptiGetVersion"));
  std::uint32_t version = 0;
  if (get_version == nullptr || get_version(&version) != 0) return "";
  return fmt::format("{}", version);
}

}  // namespace

// CUDA's own calls, which only query: LibTorch's would create a context on every device.
std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
#ifdef ODB_WITH_CUDA
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties = {};
    const bool known = cudaGetDeviceProperties(&properties, device) == cudaSuccess;
    names.push_back(known ? properties.name : "unknown");
  }
  cudaGetLastError();  // clears a failure here, or LibTorch's next CUDA call reports it as its own
#endif
  return names;
}

LibTorchFacts libtorch_facts() {
  return {.libtorch = TORCH_VERSION,
          .cuda = cuda_version(),
          .nccl = nccl_version(),
          .cupti = cupti_version(),
          .gloo = gloo_device_works("127.0.0.1"),
          .kineto = dlsym(RTLD_DEFAULT, "libkineto_init") != nullptr,
          .gpus = gpu_names()};
}

}  // namespace odb
