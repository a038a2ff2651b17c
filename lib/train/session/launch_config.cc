#include "train/session/launch_config.h"

#include <algorithm>

#include "base/error.h"
#include "base/launch_channel.h"
#include "base/launch_environment.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr const char* kByOptions = "options";

// What --rank and --world-size say, else the environment.
std::optional<RankPlace> place_of(const RankOptions& options, const Environment& environment) {
  const auto given = environment("RANK");
  if (options.rank && given && *given != std::to_string(*options.rank))
    throw UsageError(
        "--rank {} contradicts RANK={} of the environment; leave --rank to the launcher",
        *options.rank, *given);
  if (options.rank.has_value() != options.world_size.has_value())
    throw UsageError("found {} without {}; expected both, or neither for a single rank",
                     options.rank ? "--rank" : "--world-size",
                     options.rank ? "--world-size" : "--rank");
  if (!options.rank) {
    auto place = find_rank_place(environment);
    if (place && options.local_rank) place->local_rank = options.local_rank;
    return place;
  }
  return RankPlace{.source = kByOptions,
                   .rank = *options.rank,
                   .world = *options.world_size,
                   .local_rank = options.local_rank,
                   .local_world = std::nullopt};
}

std::optional<HostPort> master_address(const Environment& environment) {
  const auto host = environment("MASTER_ADDR");
  const auto port = environment("MASTER_PORT");
  if (!host && !port) return std::nullopt;
  if (!host || !port)
    throw UsageError(
        "the environment has {}, but not {}: several ranks need MASTER_ADDR and MASTER_PORT of "
        "rank 0, or --rendezvous HOST:PORT",
        host ? "MASTER_ADDR" : "MASTER_PORT", host ? "MASTER_PORT" : "MASTER_ADDR");
  const auto address = parse_host_port(*host + ":" + *port);
  if (!address)
    throw UsageError("found MASTER_ADDR={} and MASTER_PORT={}; expected a host name and a port",
                     *host, *port);
  return address;
}

HostPort meeting_point(const RankOptions& options, const RankPlace& place,
                       const Environment& environment) {
  const std::string& how = options.rendezvous;
  if (const auto address = parse_host_port(how)) return *address;
  if (how != "slurm")
    if (const auto address = master_address(environment)) return *address;
  if (how == "slurm" || (how == "auto" && place.source == "Slurm"))
    if (const auto address = slurm_rendezvous(environment)) return *address;
  if (how == "slurm")
    throw UsageError(
        "--rendezvous slurm: the environment has no SLURM_STEP_NODELIST; start the ranks with "
        "srun");
  throw UsageError(
      "rank {} of {} ({}): found no meeting point; give --rendezvous HOST:PORT of rank 0, set "
      "MASTER_ADDR and MASTER_PORT, or start the ranks with odb-trainer launch",
      place.rank, place.world, place.source);
}

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "::1";
}

}  // namespace

LaunchConfig find_launch_config(const RankOptions& options, const Environment& environment) {
  const std::optional<RankPlace> place = place_of(options, environment);
  if (!place) {
    if (options.rendezvous != "auto")
      throw UsageError(
          "--rendezvous {} without --rank and --world-size: this process has no rank; give both, "
          "or leave --rendezvous to the launcher (auto) or out of a run of one rank",
          options.rendezvous);
    return {};
  }
  constexpr std::int64_t kMaxRanks = 1 << 20;
  if (place->world < 1 || place->world > kMaxRanks || place->rank >= place->world)
    throw UsageError(
        "found rank {} of {} ranks; expected a rank from 0 to --world-size - 1, and "
        "at most {} ranks",
        place->rank, place->world, kMaxRanks);
  LaunchConfig launch{
      .rank = static_cast<int>(place->rank),
      .world = static_cast<int>(place->world),
      .local_rank = static_cast<int>(place->local_rank.value_or(place->rank)),
      .local_world = static_cast<int>(std::max<std::int64_t>(1, place->local_world.value_or(1))),
      .source = place->source};
  if (launch.world > 1) launch.store = meeting_point(options, *place, environment);
  if (!place->local_world && is_this_machine(launch.store.host)) launch.local_world = launch.world;
  if (launch.rank == 0 && place->source != kByOptions)
    if (const auto socket = environment(kListeningSocketVariable))
      launch.listening_socket = parse_integer<int>(*socket);
  return launch;
}

std::string describe(const LaunchConfig& launch) {
  return fmt::format("rank {} of {} by {}, {} of {} on this machine; rank 0 is at {}", launch.rank,
                     launch.world, launch.source == "RANK" ? "RANK and WORLD_SIZE" : launch.source,
                     launch.local_rank, launch.local_world, to_text(launch.store));
}

}  // namespace odb
