// Whether two ranks of a run were started with the same options: replicas cannot stay equal, and
// ranks not in step, otherwise. Pure.
#pragma once

#include <string>
#include <string_view>

namespace odb {

// What differs between two configs (config_json of the command's table), as "max_steps: 6 here, 3
// on rank 0; ...", the first five; empty: nothing. Options that say where a rank is and where it
// finds things may differ: rank, device, network, threads, paths of data and model, ... Serves for
// other facts, too (input_facts.h).
std::string differing_options(std::string_view own, std::string_view first);

}  // namespace odb
