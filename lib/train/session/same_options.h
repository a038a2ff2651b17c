// Whether two ranks of a run were started with the same options and devices; otherwise replicas
// would differ and ranks would get out of step. Pure.
#pragma once

#include <string>
#include <string_view>

namespace odb {

// The differences between two configs (config_json of the command's table), as "max_steps: 6 here,
// 3 on rank 0; ...", at most five; empty: none. Options that say where a rank runs and where its
// files are may differ: rank, device, network, threads, paths of data and model, ... Also compares
// other facts (input_facts.h). `other`: where the second ones are from, for the text.
std::string differing_options(std::string_view own, std::string_view first,
                              std::string_view other = "on rank 0");

// What a rank computes on.
struct RankDevice {
  int rank = 0;
  std::string name;  // "cpu" whatever the processor, else the GPU's name (device.h)
};

// Why a rank must not train beside another one, naming both ranks, devices and the option that
// permits it; empty: their devices have the same name.
std::string device_mismatch(const RankDevice& own, const RankDevice& other);

}  // namespace odb
