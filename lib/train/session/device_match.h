// Whether the ranks of a run compute on devices of one kind. LibTorch's kernels for two kinds of
// GPU round differently, so that weights on them drift apart. Pure.
#pragma once

#include <string>

namespace odb {

// What a rank computes on.
struct RankDevice {
  int rank = 0;
  std::string name;  // "cpu" whatever the processor, else the GPU's name (device.h)
};

// Why a rank must not train beside another one, naming both ranks, devices and the option that
// permits it; empty: their devices have the same name.
std::string device_mismatch(const RankDevice& own, const RankDevice& other);

}  // namespace odb
