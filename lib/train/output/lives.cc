#include "train/output/lives.h"

#include <unistd.h>

#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/machine.h"
#include "base/text.h"

namespace odb {
namespace {

std::string utc_now() {
  return fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

std::int64_t restart_count() {
  for (const char* name : {"SLURM_RESTART_COUNT", "TORCHELASTIC_RESTART_COUNT"})
    if (const auto value = process_environment(name))
      if (const auto count = parse_integer<std::int64_t>(*value)) return *count;
  return 0;
}

}  // namespace

HostInfo this_host() {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  return {.host = host, .pid = ::getpid(), .job = process_environment("SLURM_JOB_ID").value_or("")};
}

LifeStart this_life(std::int64_t life, std::int64_t world_size, std::int64_t resumed_step) {
  return {.life = life,
          .time = utc_now(),
          .host_info = this_host(),
          .restart_count = restart_count(),
          .world_size = world_size,
          .resumed_step = resumed_step};
}

LivesFile::LivesFile(FileSystem& files, const std::string& path) : lines_(files, path) {
  for (const Json& line : read_json_lines(files, path))
    lives_ += line.contains("start");
}

void LivesFile::begin(const LifeStart& start) {
  const std::string& job = start.host_info.job;
  lines_.append({{"life", start.life},
                 {"start", start.time},
                 {"host", start.host_info.host},
                 {"pid", start.host_info.pid},
                 {"job", job.empty() ? Json(nullptr) : Json(job)},
                 {"restart_count", start.restart_count},
                 {"world_size", start.world_size},
                 {"resumed_step", start.resumed_step}});
  lines_.sync();
  ++lives_;
}

void LivesFile::end(std::int64_t life, std::int64_t step, const std::string& reason,
                    int exit_code) {
  lines_.append({{"life", life},
                 {"end", utc_now()},
                 {"step", step},
                 {"reason", reason},
                 {"exit_code", exit_code}});
  lines_.sync();
}

}  // namespace odb
