#include "train/session/launch_config.h"

#include <algorithm>

#include "base/error.h"
#include "base/launch_channel.h"
#include "base/text.h"

namespace odb {
namespace {

std::optional<std::int64_t> number_in(const Environment& environment, const char* name) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  const auto number = parse_integer<std::int64_t>(*text);
  if (!number || *number < 0)
    throw UsageError("the environment has {}={}; expected a whole number of at least 0", name,
                     *text);
  return number;
}

HostPort address_in(const Environment& environment) {
  const auto host = environment("MASTER_ADDR");
  const auto port = environment("MASTER_PORT");
  if (!host || !port)
    throw UsageError(
        "RANK and WORLD_SIZE are set, but not {}: several ranks need MASTER_ADDR and MASTER_PORT "
        "of rank 0, or --rendezvous HOST:PORT",
        host ? "MASTER_PORT" : "MASTER_ADDR");
  const auto address = parse_host_port(*host + ":" + *port);
  if (!address)
    throw UsageError("found MASTER_ADDR={} and MASTER_PORT={}; expected a host name and a port",
                     *host, *port);
  return *address;
}

// One of several processes that has no rank would train alone, as would each of the others.
void refuse_rankless_task(const Environment& environment) {
  for (const char* name : {"SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE"}) {
    const std::int64_t tasks = number_in(environment, name).value_or(1);
    if (tasks > 1)
      throw UsageError(
          "this is one of {} processes ({}), but nothing says which rank: set RANK, WORLD_SIZE, "
          "LOCAL_RANK, MASTER_ADDR and MASTER_PORT for each, as configs/two-node.json shows",
          tasks, name);
  }
}

}  // namespace

LaunchConfig find_launch_config(const RankOptions& options, const Environment& environment) {
  const std::string& rendezvous = options.rendezvous;
  const bool is_address = rendezvous != "auto" && rendezvous != "env";
  const bool reads_environment =
      rendezvous == "env" ||
      (rendezvous == "auto" && environment("RANK") && environment("WORLD_SIZE"));
  const auto given = [&](const std::optional<std::int64_t>& flag, const char* variable) {
    return flag || !reads_environment ? flag : number_in(environment, variable);
  };
  const auto rank = given(options.rank, "RANK");
  const auto world = given(options.world_size, "WORLD_SIZE");
  if (reads_environment && options.rank && options.rank != number_in(environment, "RANK"))
    throw UsageError(
        "--rank {} contradicts RANK={} of the environment; leave --rank to the launcher",
        *options.rank, environment("RANK").value_or(""));
  if (rank.has_value() != world.has_value())
    throw UsageError("found {} without {}; expected both, or neither for a single rank",
                     rank ? "--rank" : "--world-size", rank ? "--world-size" : "--rank");
  if (!rank) refuse_rankless_task(environment);
  LaunchConfig launch;
  launch.rank = static_cast<int>(rank.value_or(0));
  launch.world = static_cast<int>(world.value_or(1));
  if (launch.world < 1 || launch.rank >= launch.world)
    throw UsageError("found rank {} of {} ranks; expected a rank from 0 to --world-size - 1",
                     launch.rank, launch.world);
  launch.local_rank =
      static_cast<int>(given(options.local_rank, "LOCAL_RANK").value_or(launch.rank));
  if (reads_environment)
    launch.local_world = static_cast<int>(
        std::max<std::int64_t>(1, number_in(environment, "LOCAL_WORLD_SIZE").value_or(1)));
  if (is_address) {
    const auto address = parse_host_port(rendezvous);
    if (!address)
      throw UsageError("--rendezvous {}: expected auto, env, or HOST:PORT of rank 0", rendezvous);
    launch.store = *address;
    const bool here = address->host == "localhost" || address->host.starts_with("127.");
    if (here && !reads_environment) launch.local_world = launch.world;
  } else if (launch.world > 1) {
    if (!reads_environment)
      throw UsageError(
          "--world-size {}: found no meeting point; give --rendezvous HOST:PORT of rank 0, or "
          "start the ranks with odb-trainer launch",
          launch.world);
    launch.store = address_in(environment);
  }
  if (launch.rank == 0 && reads_environment)
    if (const auto socket = number_in(environment, kListeningSocketVariable))
      launch.listening_socket = static_cast<int>(*socket);
  return launch;
}

}  // namespace odb
