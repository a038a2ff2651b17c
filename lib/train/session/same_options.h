// Whether two ranks of a run were started with the same options; otherwise replicas would differ
// and ranks would get out of step. Pure.
#pragma once

#include <string>
#include <string_view>

namespace odb {

// The differences between two configs (config_json of the command's table), as "max_steps: 6 here,
// 3 on rank 0; ...", at most five; empty: none. Options that say where a rank runs and where its
// files are may differ: rank, device, network, threads, paths of data and model, ... Also compares
// other facts (input_facts.h).
std::string differing_options(std::string_view own, std::string_view first);

}  // namespace odb
