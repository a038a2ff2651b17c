// Lists of hosts as Slurm writes them into SLURM_STEP_NODELIST and SLURM_JOB_NODELIST:
// "node[001-003,007],rack[1-2]node[01-02],login-1.example". Read here, because scontrol is not
// there in every container.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace odb {

struct HostList {
  std::string first;
  std::int64_t count = 0;

  friend bool operator==(const HostList&, const HostList&) = default;
};

// UsageError with the list and what is wrong in it.
HostList parse_host_list(std::string_view text);

}  // namespace odb
