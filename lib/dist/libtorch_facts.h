// What the LibTorch of this binary can do: its version, its build options, and what it finds here.
// Plain values without LibTorch types, so that `odb-trainer version`, `doctor` and the log need no
// LibTorch headers.
#pragma once

#include <string>
#include <vector>

namespace odb {

struct LibTorchFacts {
  std::string libtorch;           // version that this binary was compiled with: "2.13.0"
  std::string cuda;               // CUDA version of LibTorch: "13.0"; empty: a CPU build
  std::string nccl;               // version of the NCCL library in use: "2.30.7"; empty: none
  std::string cupti;              // API version of the loaded CUPTI; empty: none, no kernel times
  bool gloo = false;              // a Gloo device can be made on the loopback address
  bool kineto = false;            // the profiler is built in
  std::vector<std::string> gpus;  // names of the available GPUs, by device index
};

// Names of the GPUs by device index; empty in a CPU build, without GPU or driver. Never throws. Not
// before a fork: it starts CUDA.
std::vector<std::string> gpu_names();

// Queries LibTorch and the machine. Loads no GPU driver where LibTorch is a CPU build; without GPU
// or driver `gpus` is empty. Never throws; the first call may take a second on a machine with GPUs.
// Not before a fork: it starts CUDA.
LibTorchFacts libtorch_facts();

}  // namespace odb
